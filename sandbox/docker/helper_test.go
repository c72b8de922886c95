//go:build unix

package docker

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCopyHelper puts something else in the place of a copy that is there.
func TestCopyHelper(t *testing.T) {
	content := bytes.Repeat([]byte("program "), 1000)
	for _, test := range []struct {
		name string
		harm func(copy string) error
	}{
		{"untouched", func(string) error { return nil }},
		{"of the same size", func(copy string) error { return os.WriteFile(copy, bytes.ToUpper(content), 0o755) }},
		{"cut off", func(copy string) error { return os.Truncate(copy, 10) }},
		{"of another mode", func(copy string) error { return os.Chmod(copy, 0o777) }},
		{"removed", os.Remove},
		{"a link to another", func(copy string) error {
			if err := os.Remove(copy); err != nil {
				return err
			}
			return os.Symlink("/bin/sh", copy)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := &Engine{opts: Options{CacheDir: t.TempDir()}}
			source := filepath.Join(t.TempDir(), "source")
			if err := os.WriteFile(source, content, 0o700); err != nil {
				t.Fatal(err)
			}
			first, err := e.copyHelper(source)
			if err != nil {
				t.Fatal(err)
			}
			if err := test.harm(first); err != nil {
				t.Fatal(err)
			}
			second, err := e.copyHelper(source)
			if err != nil || second != first {
				t.Fatalf("the second time it is %s, %v, want %s", second, err, first)
			}
			info, err := os.Lstat(second)
			if err != nil || info.Mode() != copyMode {
				t.Errorf("the copy is %v, %v, want %v", info, err, copyMode)
			}
			if got, err := os.ReadFile(second); err != nil || !bytes.Equal(got, content) {
				t.Errorf("the copy has %d bytes %.20q, %v", len(got), got, err)
			}
			if folder, err := os.Stat(filepath.Dir(second)); err != nil || folder.Mode().Perm() != privateMode {
				t.Errorf("the folder is %v, %v, want %v", folder, err, privateMode)
			}
		})
	}
}

// TestHelperDir has folders in the place of the private one.
func TestHelperDir(t *testing.T) {
	e := &Engine{opts: Options{CacheDir: t.TempDir()}}
	dir, err := e.helperDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if again, err := e.helperDir(); err != nil || again != dir {
		t.Errorf("helperDir = %s, %v, want %s", again, err, dir)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != privateMode {
		t.Errorf("an open folder stays %v, %v", info, err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := e.helperDir(); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("error = %v for a link, want one that says what to do", err)
	}
}
