//go:build unix

package pool_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/pool"
)

func owner() sandbox.Owner { return sandbox.Owner{UID: os.Getuid(), GID: os.Getgid(), Umask: 0o022} }

// tree describes what is in a folder, one line for each name.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&out, "%q %v", name, info.Mode())
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&out, " %q %v", data, info.ModTime().UTC())
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&out, " -> %q", target)
		}
		out.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// must fails the test with any of the errors.
func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestCopyOf(t *testing.T) {
	from, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	in := func(name string) string { return filepath.Join(from, name) }
	must(t,
		os.WriteFile(outside, []byte("secret"), 0o600),
		os.MkdirAll(in("sub/deep"), 0o755), os.Mkdir(in("closed"), 0o755), os.Mkdir(in("empty"), 0o750),
		os.WriteFile(in("script.sh"), []byte("#!/bin/sh\n"), 0o644), os.Chmod(in("script.sh"), 0o755),
		os.WriteFile(in("sub/deep/file"), []byte("text"), 0o640),
		os.WriteFile(in("closed/file"), nil, 0o400),
		os.WriteFile(in("no\xffutf8"), []byte("x"), 0o600),
		os.Mkdir(in("no\xfeutf8"), 0o700), os.WriteFile(in("no\xfeutf8/file"), []byte("y"), 0o600),
		os.Symlink("sub/deep/file", in("inside")), os.Symlink(outside, in("outside")),
		os.Symlink("/", in("sub/root")), os.Symlink("nowhere", in("dangling")),
		os.Chtimes(in("sub/deep/file"), time.Unix(1e9, 0), time.Unix(1e9, 0)),
		os.Chmod(in("closed"), 0o555),
	)
	t.Cleanup(func() { _ = os.Chmod(in("closed"), 0o755) })
	want := tree(t, from)
	must(t, syscall.Mkfifo(in("pipe"), 0o600)) // is left out, and blocks nothing

	to := t.TempDir()
	must(t, pool.CopyOf(from, owner())(t.Context(), to))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(to, "closed"), 0o755) })
	if diff := cmp.Diff(want, tree(t, to)); diff != "" {
		t.Errorf("the copy differs (-want +got):\n%s", diff)
	}
}

func TestCopyOfRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	full := t.TempDir()
	must(t, os.WriteFile(filepath.Join(full, "file"), []byte("there"), 0o600))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx      context.Context
		from, to string
	}{
		"a relative path":       {t.Context(), "some/folder", t.TempDir()},
		"a missing folder":      {t.Context(), file + "-missing", t.TempDir()},
		"a file":                {t.Context(), file, t.TempDir()},
		"what is there already": {t.Context(), filepath.Dir(file), full},
		"a context that ended":  {canceled, filepath.Dir(file), t.TempDir()},
	} {
		t.Run(name, func(t *testing.T) {
			if err := pool.CopyOf(test.from, owner())(test.ctx, test.to); err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("error = %v, want one line", err)
			}
		})
	}
	if data, err := os.ReadFile(filepath.Join(full, "file")); err != nil || string(data) != "there" {
		t.Errorf("the file that was there holds %q, %v", data, err)
	}
}

// TestCopyOfInside: a copy that would hold itself would have no end.
func TestCopyOfInside(t *testing.T) {
	from := t.TempDir()
	to := filepath.Join(from, "sub", "to")
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.MkdirAll(to, 0o700), os.Symlink(to, link))
	for name, dir := range map[string]string{"itself": from, "below": to, "by a link": link} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if err := pool.CopyOf(from, owner())(ctx, dir); !errors.Is(err, pool.ErrInside) {
				t.Errorf("error = %v, want ErrInside", err)
			}
			if entries, err := os.ReadDir(to); err != nil || len(entries) > 0 {
				t.Errorf("it holds %v, %v", entries, err)
			}
		})
	}
}
