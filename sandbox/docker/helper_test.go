//go:build unix

package docker

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/system"
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

// TestHelperLabels has an engine that gives a label to what it mounts.
func TestHelperLabels(t *testing.T) {
	for _, test := range []struct {
		name    string
		options []string
		copied  bool
	}{{"no SELinux", nil, false}, {"SELinux", []string{"name=selinux"}, true}} {
		t.Run(test.name, func(t *testing.T) {
			source := filepath.Join(t.TempDir(), "belljar")
			if err := os.WriteFile(source, []byte("program"), 0o755); err != nil {
				t.Fatal(err)
			}
			cache := t.TempDir()
			e := &Engine{opts: Options{CacheDir: cache, Helper: source}, info: system.Info{SecurityOptions: test.options}}
			got, err := e.executable(false)
			if err != nil {
				t.Fatal(err)
			}
			if copied := strings.HasPrefix(got, cache); copied != test.copied {
				t.Errorf("mounted is %s, want a copy: %v", got, test.copied)
			}
		})
	}
}

// TestOwnDir has folders in the place of the private one.
func TestOwnDir(t *testing.T) {
	for _, test := range []struct {
		name string
		get  func(*Engine) (path string, err error) // a path in the folder
	}{
		{"programs", func(e *Engine) (string, error) {
			dir, err := e.ownDir("bin")
			return filepath.Join(dir, "program"), err
		}},
		{"seccomp", func(e *Engine) (string, error) { return e.profileFile([]byte("{}")) }},
		{"hosts", (*Engine).hostsFile},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := &Engine{opts: Options{CacheDir: t.TempDir()}}
			path, err := test.get(e)
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Dir(path)
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			if again, err := test.get(e); err != nil || again != path {
				t.Errorf("the second time it is %s, %v, want %s", again, err, path)
			}
			if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != privateMode {
				t.Errorf("an open folder stays %v, %v", info, err)
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(t.TempDir(), dir); err != nil {
				t.Fatal(err)
			}
			if _, err := test.get(e); err == nil || !strings.Contains(err.Error(), "remove it") {
				t.Errorf("error = %v for a link, want one that says what to do", err)
			}
		})
	}
}

// TestPublicFile puts something else in the place of a file that is there, and
// lists it among what can be collected.
func TestPublicFile(t *testing.T) {
	for _, test := range []struct {
		name string
		harm func(path string) error
	}{
		{"untouched", func(string) error { return nil }},
		{"of the same size", func(path string) error { return os.WriteFile(path, bytes.ToUpper([]byte(localHosts)), 0o644) }},
		{"of another mode", func(path string) error { return os.Chmod(path, 0o666) }},
		{"a link to the same", func(path string) error {
			other := filepath.Join(filepath.Dir(filepath.Dir(path)), "other")
			if err := os.Rename(path, other); err != nil {
				return err
			}
			return os.Symlink(other, path)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := &Engine{opts: Options{CacheDir: t.TempDir()}}
			path, err := e.hostsFile()
			if err != nil {
				t.Fatal(err)
			}
			if err := test.harm(path); err != nil {
				t.Fatal(err)
			}
			if again, err := e.hostsFile(); err != nil || again != path {
				t.Fatalf("the second time it is %s, %v, want %s", again, err, path)
			}
			if info, err := os.Lstat(path); err != nil || info.Mode() != publicMode {
				t.Errorf("the file is %v, %v, want %v", info, err, publicMode)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != localHosts {
				t.Errorf("the file has %.20q, %v", got, err)
			}
			if all, err := e.cached(nil); err != nil || len(all) != 1 || all[0].Name != path {
				t.Errorf("cached are %v, %v, want %s alone", all, err, path)
			}
		})
	}
}
