package workspace_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belljar/belljar/sandbox"
	"golang.org/x/sys/unix"
)

// setAttribute sets an extended attribute, or skips where the file system has
// none of its kind.
func setAttribute(t *testing.T, path, name, value string) {
	t.Helper()
	err := unix.Setxattr(path, name, []byte(value), 0)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EPERM) {
		t.Skipf("the attribute %s cannot be set here: %v", name, err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func attribute(t *testing.T, path, name string) string {
	t.Helper()
	buffer := make([]byte, 1000)
	n, err := unix.Getxattr(path, name, buffer)
	if errors.Is(err, unix.ENODATA) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(buffer[:n])
}

// acl is an access control list as the kernel takes it: what the owner, a user
// with the number 1234, the group and others may do.
func acl(owner, user, group, mask, other byte) string {
	entry := func(tag, perm byte, id string) string { return string([]byte{tag, 0, perm, 0}) + id }
	const none = "\xff\xff\xff\xff"
	return "\x02\x00\x00\x00" + entry(1, owner, none) + entry(2, user, "\xd2\x04\x00\x00") +
		entry(4, group, none) + entry(16, mask, none) + entry(32, other, none)
}

func TestChangeKeepsAttributes(t *testing.T) {
	w, dir := open(t)
	path := filepath.Join(dir, "file")
	put(t, path, "old")
	setAttribute(t, path, "user.origin", "https://example.com\x00")
	setAttribute(t, path, "user.empty", "")
	if _, err := updateFile(w, "file", 100, func([]byte) ([]byte, error) { return []byte("new"), nil }); err != nil {
		t.Fatal(err)
	}
	if got := attribute(t, path, "user.origin"); got != "https://example.com\x00" || read(t, path) != "new" {
		t.Errorf("user.origin is %q", got)
	}
	if n, err := unix.Getxattr(path, "user.empty", nil); n != 0 || err != nil {
		t.Errorf("user.empty has %d bytes, %v", n, err)
	}
}

func TestChangeKeepsAccessLists(t *testing.T) {
	const access, inherited = "system.posix_acl_access", "system.posix_acl_default"
	w, dir := open(t)
	listed, plain := filepath.Join(dir, "listed"), filepath.Join(dir, "plain")
	put(t, listed, "old")
	put(t, plain, "old")
	setAttribute(t, listed, access, acl(6, 6, 4, 6, 0))
	// What is made in the folder from now on gets a list of its own.
	setAttribute(t, dir, inherited, acl(7, 7, 7, 7, 7))
	for _, path := range []string{listed, plain} {
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		want := attribute(t, path, access)
		if _, err := writeFile(w, filepath.Base(path), []byte("new")); err != nil {
			t.Fatal(err)
		}
		after, err := os.Stat(path)
		if err != nil || after.Mode() != before.Mode() {
			t.Errorf("%s: mode %v, want %v (%v)", path, after.Mode(), before.Mode(), err)
		}
		if got := attribute(t, path, access); got != want {
			t.Errorf("%s: access list %x, want %x", path, got, want)
		}
	}
}

// What one file has can be more than is carried in memory: then it stays as it
// is. Most file systems allow less than that, the one in memory does not.
func TestChangeBoundsAttributes(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(dir)
	w := openAt(t, dir, sandbox.Owner{UID: os.Geteuid(), GID: os.Getegid()})
	path := filepath.Join(dir, "file")
	put(t, path, "old")
	value := strings.Repeat("v", 60<<10)
	for i := range 20 {
		err := unix.Setxattr(path, fmt.Sprint("user.a", i), []byte(value), 0)
		if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.E2BIG) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EDQUOT) {
			t.Skipf("so many attributes cannot be set here: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := writeFile(w, "file", []byte("new")); err == nil || !strings.Contains(err.Error(), "keeping its extended attributes: they are over") {
		t.Errorf("%v", err)
	}
	if got := read(t, path); got != "old" {
		t.Errorf("the file holds %q", got)
	}
	noTemps(t, dir)
}

// A capability of a program is for its bytes; so are set-id bits.
func TestChangeDropsCapabilities(t *testing.T) {
	w, dir := open(t)
	path := filepath.Join(dir, "program")
	put(t, path, "old")
	setAttribute(t, path, "security.capability", "\x01\x00\x00\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	if _, err := writeFile(w, "program", []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got := attribute(t, path, "security.capability"); got != "" {
		t.Errorf("the new program has the capability of the old one: %x", got)
	}
}
