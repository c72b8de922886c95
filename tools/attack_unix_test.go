//go:build unix

package tools_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// attackRounds is how many calls TestReadingUnderAttack makes, and shortRounds
// under -short; BELLJAR_TEST_ROUNDS sets another number.
const attackRounds, shortRounds = 3000, 500

// canary is in the name and in the content of what lies outside.
const canary = "canary-7f3a"

// swapped replaces dir/name by one thing after the other, as fast as it can,
// until ctx is done, and closes the channel then.
func swapped(ctx context.Context, t *testing.T, dir, name string, makers ...func(path string) error) <-chan struct{} {
	stopped := make(chan struct{})
	spot, next := filepath.Join(dir, name), filepath.Join(dir, ".next-"+name)
	go func() {
		defer close(stopped)
		for i := 0; ctx.Err() == nil; i++ {
			if err := makers[i%len(makers)](next); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("making what %s becomes: %v", name, err)
				return
			}
			// A rename replaces neither a folder by a link nor the reverse.
			os.RemoveAll(spot)
			if os.Rename(next, spot) != nil {
				os.RemoveAll(next)
			}
		}
	}()
	return stopped
}

// While folders, links, FIFOs and hard links take each other's place, nothing
// of what lies outside is ever read, and no call waits for anything.
func TestReadingUnderAttack(t *testing.T) { attack(t, newFiles(t)) }

// attack runs the reading tools while everything is swapped.
func attack(t *testing.T, f *files) {
	const longest = 30 * time.Second // far more than a call takes, as the machine may be busy
	rounds := attackRounds
	if testing.Short() {
		rounds = shortRounds
	}
	if text := os.Getenv("BELLJAR_TEST_ROUNDS"); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	outside := t.TempDir()
	for _, name := range []string{"file", canary, "sub/file", ".gitignore"} {
		if err := os.MkdirAll(filepath.Join(outside, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(outside, name), []byte(canary+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f.put(t, "real/file", "inside\n")
	f.put(t, "real/sub/file", "inside\n")
	for i := range 100 { // they take time between the reading of a folder and the opening of what is in it
		f.put(t, fmt.Sprintf("pad/%d", i), "")
		f.put(t, fmt.Sprintf("%d", i), "")
	}
	relative, err := filepath.Rel(f.dir, outside)
	if err != nil {
		t.Fatal(err)
	}
	folder := func(path string) error {
		return errors.Join(os.MkdirAll(filepath.Join(path, "sub"), 0o755), os.WriteFile(filepath.Join(path, "file"), []byte("inside\n"), 0o644),
			os.WriteFile(filepath.Join(path, "sub", "file"), []byte("inside\n"), 0o644))
	}
	link := func(target string) func(string) error {
		return func(path string) error { return os.Symlink(target, path) }
	}
	fifo := func(path string) error { return syscall.Mkfifo(path, 0o666) }
	hard := func(path string) error { return os.Link(filepath.Join(f.dir, "real", "file"), path) }
	ctx, stop := context.WithCancel(t.Context())
	stopped := []<-chan struct{}{
		swapped(ctx, t, f.dir, "spot", folder, link(outside), folder, link(relative), fifo, folder, link("spot"), hard, link("/"), folder, link("real")),
		swapped(ctx, t, f.dir, "leaf", hard, link(filepath.Join(outside, "file")), fifo, link("../"+filepath.Base(outside)+"/file"), hard, folder, link("real/file")),
		swapped(ctx, t, f.dir, ".gitignore", link(filepath.Join(outside, ".gitignore")), fifo, hard, folder),
		swapped(ctx, t, filepath.Join(f.dir, "real"), "sub", folder, link(outside), folder, fifo),
	}
	calls := []struct {
		tool string
		args map[string]any
	}{
		{"read_file", map[string]any{"path": "spot/file"}},
		{"grep", map[string]any{"pattern": canary}},
		{"read_file", map[string]any{"path": "spot"}},
		{"glob", map[string]any{"pattern": "**"}},
		{"read_file", map[string]any{"path": "leaf"}},
		{"grep", map[string]any{"pattern": "inside|" + canary, "path": "spot", "context": 3}},
		{"read_file", map[string]any{"path": "spot/sub/file"}},
		{"glob", map[string]any{"pattern": "spot/**", "ignored": true}},
		{"read_file", map[string]any{"path": "real/sub/file"}},
		{"grep", map[string]any{"pattern": canary, "path": "leaf"}},
		{"read_file", map[string]any{"path": ".gitignore"}},
		{"grep", map[string]any{"pattern": "inside", "ignored": true, "multiline": true}},
	}
	read, refused, slowest := 0, 0, time.Duration(0)
	// Where the two share a processor few are met: go on until some have been.
	for i := 0; i < rounds || i < 50*rounds && (read == 0 || refused == 0); i++ {
		call := calls[i%len(calls)]
		began := time.Now()
		got, isError := f.call(t, call.tool, call.args)
		took := time.Since(began)
		slowest = max(slowest, took)
		if took > longest {
			t.Fatalf("call %d, %s %v, took %v", i, call.tool, call.args, took)
		}
		if leaks(got) {
			t.Fatalf("call %d, %s %v, has read outside: %q", i, call.tool, call.args, got)
		}
		switch {
		case isError:
			refused++
		case strings.Contains(got, "inside"):
			read++
		}
	}
	stop()
	for _, end := range stopped {
		<-end
	}
	if read == 0 || refused == 0 {
		t.Errorf("%d read, %d refused: the race did not happen", read, refused)
	}
	t.Logf("%d calls, %d read inside, %d refused, the slowest took %v", rounds, read, refused, slowest)
}

// leaks tells whether an answer holds something from outside: the canary where
// it is not the target of a link, which lies inside, or the pattern.
func leaks(answer string) bool {
	for line := range strings.SplitSeq(answer, "\n") {
		if strings.Contains(line, canary) && !strings.Contains(line, " -> ") {
			return true
		}
	}
	return strings.Contains(answer, "etc/passwd")
}
