package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
)

// keepCached is how long a cached file that no container has mounted is kept
// after it was last used. It is made again when it is needed.
const keepCached = 7 * 24 * time.Hour

// A Leftover is something that belljar made, and whether it is of use.
type Leftover struct {
	// Kind is "container", "file" or "folder"; Name is its id or path.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Stale is set for what is of no use any more, and Why says what tells.
	Stale bool   `json:"stale"`
	Why   string `json:"why"`
	// Err is why it could not be removed, nil also where it was not tried.
	Err error `json:"-"`
}

// Collect looks at all containers and cached files that belljar made, removes
// what is stale unless dry is set, and tells about each. A container is stale by
// the rules of Sweep. A file is when no container of this engine has it mounted
// and it was not used for a week.
func (e *Engine) Collect(ctx context.Context, dry bool) ([]Leftover, error) {
	containers, err := e.containers(ctx)
	if err != nil {
		return nil, err
	}
	here, err := thisHost()
	if err != nil {
		return nil, err
	}
	var all []Leftover
	for _, c := range containers {
		l := judge(c, here)
		if l.Stale && !dry {
			l.Err = e.remove(c.ID)
		}
		all = append(all, l)
	}
	files, err := e.cached(containers)
	if err != nil {
		return all, err
	}
	for _, l := range files {
		if l.Stale && !dry {
			l.Err = os.RemoveAll(l.Name)
		}
		all = append(all, l)
	}
	return all, nil
}

// judge tells whether a container is stale.
func judge(c container.Summary, here host) Leftover {
	about := describe(c, here)
	l := Leftover{
		Kind: "container", Name: c.ID,
		Stale: abandoned(c.Labels, c.State, about.Created, here, processStart),
	}
	switch {
	case about.Owner == OwnerAlive:
		l.Why = fmt.Sprintf("its owner, process %d, lives", about.PID)
	case about.Owner == OwnerDead:
		l.Why = fmt.Sprintf("its owner, process %d, is dead", about.PID)
	case about.Owner == OwnerHidden:
		l.Why = fmt.Sprintf("its owner, process %d, may not be looked at by this user", about.PID)
	case l.Stale:
		l.Why = "it does not run, and its owner is not on this machine as it runs now"
	default:
		l.Why = "its owner is not on this machine as it runs now; it ends within a minute of its owner"
	}
	return l
}

// cached looks at the files in the cache folder.
func (e *Engine) cached(containers []container.Summary) ([]Leftover, error) {
	dir, err := e.cacheDir()
	if err != nil {
		return nil, err
	}
	mounted := map[string]bool{}
	for _, c := range containers {
		for _, m := range c.Mounts {
			mounted[m.Source] = true
		}
	}
	var all []Leftover
	for _, group := range []struct{ pattern, kind string }{
		{"bin*/*", "file"}, {"etc*/*", "file"}, {"seccomp*/*", "file"}, {"users/*", "folder"},
	} {
		paths, err := filepath.Glob(filepath.Join(escapeGlob(dir), group.pattern))
		if err != nil {
			return nil, fmt.Errorf("listing the cache folder: %w", err)
		}
		for _, path := range paths {
			l, err := judgeCached(path, mounted, time.Now())
			if errors.Is(err, fs.ErrNotExist) {
				continue // another process collects too
			}
			if err != nil {
				return nil, fmt.Errorf("looking at the cache folder: %w", err)
			}
			l.Kind = group.kind
			all = append(all, l)
		}
	}
	return all, nil
}

// escapeGlob makes a pattern of a path that matches nothing else.
func escapeGlob(path string) string {
	if filepath.Separator != '/' {
		return path // no character can be escaped there
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// judgeCached tells whether a cached file, or a folder with all it holds, is
// stale.
func judgeCached(path string, mounted map[string]bool, now time.Time) (Leftover, error) {
	l := Leftover{Name: path}
	var last time.Time
	err := filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if mounted[path] {
			l.Why = "a container has it mounted"
		}
		if info.ModTime().After(last) {
			last = info.ModTime()
		}
		return nil
	})
	switch {
	case err != nil || l.Why != "":
	case now.Sub(last) > keepCached:
		l.Stale, l.Why = true, "it was not used for a week"
	default:
		l.Why = "it was used within a week"
	}
	return l, err
}

// used marks a cached file as used now. That it cannot be marked costs no more
// than making it again.
func used(path string) {
	now := time.Now()
	_ = os.Chtimes(path, now, now)
}
