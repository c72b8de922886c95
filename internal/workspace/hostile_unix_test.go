//go:build unix

package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

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
	for i := range 10_000 {
		name := fmt.Sprintf("spot/f%d", i%3)
		if i%4 == 0 {
			name = "spot/file"
		}
		_, err := writeFile(w, name, []byte("evil"))
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
