//go:build unix

package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
)

// A FIFO must be refused, not waited for, wherever it is.
func TestSpecialFiles(t *testing.T) {
	w, dir := open(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	link(t, "pipe", filepath.Join(dir, "link"))
	socket, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(socket)
	t.Chdir(dir) // a socket's path may have about 100 bytes only
	if err := syscall.Bind(socket, &syscall.SockaddrUnix{Name: "sock"}); err != nil {
		t.Fatal(err)
	}
	names := []string{"pipe", "link", "sock", "pipe/x"}
	if err := syscall.Mknod(filepath.Join(dir, "null"), syscall.S_IFCHR|0o666, 1<<8|3); err == nil {
		names = append(names, "null")
	}
	for _, name := range names {
		if _, err := w.Open(name); !errors.Is(err, workspace.ErrFileType) {
			t.Errorf("Open(%q) = %v, want ErrFileType", name, err)
		}
		if _, err := writeFile(w, name, nil); !errors.Is(err, workspace.ErrFileType) {
			t.Errorf("WriteFile(%q) = %v, want ErrFileType", name, err)
		}
	}
}

// swap replaces dir/name by one thing after the other, as fast as it can, until
// ctx is done. Its channel is closed then.
func swap(ctx context.Context, t *testing.T, dir string, makers ...func(path string) error) <-chan struct{} {
	stopped := make(chan struct{})
	path := filepath.Join(dir, "spot")
	next := filepath.Join(dir, "next")
	go func() {
		defer close(stopped)
		for i := 0; ctx.Err() == nil; i++ {
			if err := makers[i%len(makers)](next); err != nil {
				t.Errorf("making the next thing: %v", err)
				return
			}
			// A rename replaces neither a folder by a link nor the reverse.
			if err := os.RemoveAll(path); err != nil {
				os.RemoveAll(next) // a file was written into it meanwhile
				continue
			}
			if err := os.Rename(next, path); err != nil {
				os.RemoveAll(next)
			}
		}
	}()
	return stopped
}

// While the sandbox swaps a folder for a link to the outside, for a FIFO and
// for a link to itself, nothing is ever written or read outside, and no call
// blocks.
func TestRaceWithSwaps(t *testing.T) {
	w, dir := open(t)
	race(t, w, dir)
}

// rounds is how often a race is run: BELLJAR_TEST_ROUNDS, or a number that
// takes a few seconds.
func rounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("BELLJAR_TEST_ROUNDS")
	if text == "" {
		return 10_000
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("BELLJAR_TEST_ROUNDS: %v", err)
	}
	return n
}

// slowest is the longest that a call of a race may take: one that waits for
// something takes for ever.
const slowest = 10 * time.Second

func race(t *testing.T, w *workspace.Workspace, dir string) {
	t.Helper()
	outside := filepath.Join(dir, "..", "outside")
	put(t, filepath.Join(outside, "file"), "untouched")
	ctx, stop := context.WithCancel(t.Context())
	stopped := swap(ctx, t, dir,
		func(path string) error { return os.Mkdir(path, 0o777) },
		func(path string) error { return os.Symlink(outside, path) },
		func(path string) error { return os.Mkdir(path, 0o777) },
		func(path string) error { return os.Symlink("../outside", path) },
		func(path string) error { return syscall.Mkfifo(path, 0o666) },
		func(path string) error { return os.Symlink("spot", path) },
	)
	var written, refused int
	// On a slow disk few writes come through: go on until one has.
	for i, n := 0, rounds(t); i < n || i < 50*n && (written == 0 || refused == 0); i++ {
		start := time.Now()
		name := fmt.Sprintf("spot/f%d", i%3)
		if i%4 == 0 {
			name = "spot/file"
		}
		err := attack(w, i, name)
		var refusal *workspace.Refusal
		switch {
		case err == nil:
			written++
		case errors.As(err, &refusal):
			refused++
		default:
			t.Fatalf("write %d: %v", i, err)
		}
		if i%10 == 0 {
			readInside(t, w)
		}
		if took := time.Since(start); took > slowest {
			t.Fatalf("call %d took %v", i, took)
		}
	}
	stop()
	<-stopped
	if got := read(t, filepath.Join(outside, "file")); got != "untouched" {
		t.Errorf("the file outside holds %q", got)
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside holds %v, %v", entries, err)
	}
	above, err := os.ReadDir(filepath.Dir(outside))
	if err != nil || len(above) != 2 {
		t.Errorf("beside the workspace lie %v, %v", above, err)
	}
	if written == 0 || refused == 0 {
		t.Errorf("%d written, %d refused: the race did not happen", written, refused)
	}
	t.Logf("%d written, %d refused", written, refused)
}

// attack changes what a name leads to in one of several ways.
func attack(w *workspace.Workspace, i int, name string) error {
	return w.Change(func(c *workspace.Changes) error {
		target, err := c.Place(name)
		if err != nil {
			return err
		}
		switch {
		case i%5 == 1 && target.Exists:
			target.Remove()
		case i%5 == 2 && target.Exists:
			content, err := target.Content(100)
			if err != nil {
				return err
			}
			if string(content) == "untouched" {
				return errors.New("the file outside was read")
			}
			target.Write(append(content[:min(len(content), 50)], "more"...))
		default:
			target.Write([]byte("evil"))
		}
		if i%3 == 0 { // a second one, so that there is something to put back
			if second, err := c.Place("safe"); err == nil {
				second.Write([]byte(name))
			}
		}
		return nil
	})
}

// While the sandbox swaps a file for another name of a file outside, for a
// link and for nothing, the file outside stays as it is: a change is a new file
// in the place of the old one.
func TestRaceWithHardLinks(t *testing.T) {
	w, dir := open(t)
	outside := filepath.Join(dir, "..", "outside")
	put(t, outside, "untouched")
	ctx, stop := context.WithCancel(t.Context())
	stopped := swap(ctx, t, dir,
		func(path string) error { return os.WriteFile(path, []byte("plain"), 0o644) },
		func(path string) error { return os.Link(outside, path) },
		func(path string) error { return os.Symlink("../outside", path) },
	)
	changed := 0
	for i, n := 0, rounds(t)/4; i < n || i < 50*n && changed < 10; i++ {
		_, err := updateFile(w, "spot", 100, func(old []byte) ([]byte, error) { return append(old, '!'), nil })
		var refusal *workspace.Refusal
		if err != nil && !errors.As(err, &refusal) {
			t.Fatalf("edit %d: %v", i, err)
		}
		if err == nil {
			changed++
		}
	}
	stop()
	<-stopped
	if got := read(t, outside); got != "untouched" {
		t.Errorf("the file outside holds %q", got)
	}
	if changed < 10 {
		t.Errorf("%d edits succeeded: the race did not happen", changed)
	}
}

func readInside(t *testing.T, w *workspace.Workspace) {
	t.Helper()
	f, err := w.Open("spot/file")
	if err != nil {
		return
	}
	defer f.Close()
	buf := make([]byte, 16)
	if n, _ := f.Read(buf); string(buf[:n]) == "untouched" {
		t.Error("the file outside was read")
	}
}

// When root invokes belljar on someone's folder, what it makes is theirs.
func TestWriteFileOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := t.TempDir()
	w := openAt(t, dir, sandbox.Owner{UID: 1234, GID: 2345, Umask: 0o022})
	put(t, filepath.Join(dir, "other"), "old")
	if err := os.Chown(filepath.Join(dir, "other"), 77, 88); err != nil {
		t.Fatal(err)
	}
	shared := filepath.Join(dir, "shared")
	if err := os.Mkdir(shared, 0o775); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chown(shared, 1234, 999), os.Chmod(shared, os.ModeSetgid|0o775)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a/b/new", "other", "shared/new"} {
		if _, err := writeFile(w, name, []byte("new")); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string][2]uint32{
		"a": {1234, 2345}, "a/b": {1234, 2345}, "a/b/new": {1234, 2345},
		"other":      {77, 88},
		"shared/new": {1234, 999},
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		st := info.Sys().(*syscall.Stat_t)
		if got := [2]uint32{st.Uid, st.Gid}; got != want {
			t.Errorf("%s belongs to %v, want %v", name, got, want)
		}
	}
}

// A walk that goes by handles reads nothing outside either, in both of its
// ways.
func TestFolderRaceWithSwaps(t *testing.T) {
	eachFolder(t, func(t *testing.T, dir string, top *workspace.Folder) {
		outside := filepath.Join(dir, "..", "outside")
		put(t, filepath.Join(dir, "real"), "inside")
		ctx, stop := context.WithCancel(t.Context())
		stopped := swap(ctx, t, dir,
			func(path string) error {
				return errors.Join(os.Mkdir(path, 0o777), os.WriteFile(filepath.Join(path, "secret"), []byte("inside"), 0o666))
			},
			func(path string) error { return os.Symlink(outside, path) },
			func(path string) error { return os.Link(filepath.Join(dir, "real"), path) },
			func(path string) error { return os.Symlink("../outside/secret", path) },
			func(path string) error { return syscall.Mkfifo(path, 0o666) },
		)
		var opened int
		// Where the two share a processor few are met: go on until one has been.
		for i := 0; i < 10_000 || i < 500_000 && opened == 0; i++ {
			if f, err := top.File("spot"); err == nil {
				opened++
				noSecret(t, f)
			}
			sub, err := top.Folder("spot")
			if err != nil {
				continue
			}
			if f, err := sub.File("secret"); err == nil {
				opened++
				noSecret(t, f)
			}
			sub.Close()
		}
		stop()
		<-stopped
		if opened == 0 {
			t.Error("nothing was ever opened: the race did not happen")
		}
	})
}

// noSecret reads a file and closes it.
func noSecret(t *testing.T, f workspace.Content) {
	t.Helper()
	defer f.Close()
	buf := make([]byte, 16)
	if n, _ := f.Read(buf); string(buf[:n]) == "secret" {
		t.Error("the file outside was read")
	}
}

// Nothing writes to the FIFO: opening it would wait for ever.
func TestFolderRefusesFIFO(t *testing.T) {
	eachFolder(t, func(t *testing.T, dir string, top *workspace.Folder) {
		if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o666); err != nil {
			t.Fatal(err)
		}
		if f, err := top.File("pipe"); err == nil {
			f.Close()
			t.Error("it was opened as a file")
		}
		if sub, err := top.Folder("pipe"); err == nil {
			sub.Close()
			t.Error("it was opened as a folder")
		}
		entries, _, err := top.Entries(10)
		if err != nil || len(entries) != 1 || entries[0].Kind != workspace.KindSpecial {
			t.Errorf("the entries are %v, %v", entries, err)
		}
	})
}
