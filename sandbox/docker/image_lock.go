package docker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/belljar/belljar/internal/filelock"
)

// lockPoll is how often a build looks whether another one has ended.
const lockPoll = 200 * time.Millisecond

// lockBuilds waits for its turn to build and returns what ends the turn. The
// kernel ends it too when the process dies. Without a cache folder builds go on
// side by side: that costs time, but no build breaks another.
func (e *Engine) lockBuilds(ctx context.Context, report *progress) (func(), error) {
	dir := e.opts.CacheDir
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			e.log.Debug("no cache folder for the build lock", "error", err)
			return func() {}, nil
		}
		dir = filepath.Join(cache, "belljar")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the cache folder: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, "image-build.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock of image builds: %w", err)
	}
	ticker := time.NewTicker(lockPoll)
	defer ticker.Stop()
	for waited := false; ; waited = true {
		locked, err := filelock.TryLock(file)
		if err != nil {
			file.Close()
			return nil, fmt.Errorf("locking image builds with %s: %w", file.Name(), err)
		}
		if locked {
			return func() { file.Close() }, nil
		}
		if !waited {
			report.say("another belljar builds an image; waiting for it")
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, fmt.Errorf("waiting for another build: %w", context.Cause(ctx))
		case <-ticker.C:
		}
	}
}
