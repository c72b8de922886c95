package sandboxtest

import (
	"os"
	"path/filepath"
	"testing"
)

// workspaceTests check that the folder is one and the same on both sides.
func workspaceTests() []test {
	return []test{
		{"BothWays", testWorkspaceBothWays},
		{"Owner", testWorkspaceOwner},
	}
}

func testWorkspaceBothWays(t *testing.T, s *suite) {
	b := s.shared(t)
	host := filepath.Join(b.spec.Workspace, "from-host")
	if err := os.WriteFile(host, []byte("hello from the host\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := b.script(t, "cat from-host && printf 'hello from inside\\n' >from-inside")
	wantExit(t, out, 0)
	wantOutput(t, out, "hello from the host\n")
	got, err := os.ReadFile(filepath.Join(b.spec.Workspace, "from-inside"))
	if err != nil || string(got) != "hello from inside\n" {
		t.Errorf("from-inside = %q, %v", got, err)
	}
	if err := os.Remove(host); err != nil {
		t.Fatal(err)
	}
	wantExit(t, b.script(t, "test ! -e from-host"), 0)
}

func testWorkspaceOwner(t *testing.T, s *suite) {
	b := s.shared(t)
	wantExit(t, b.script(t, "mkdir owned && : >owned/file && ln -s file owned/link && mkdir owned/folder"), 0)
	owner := b.spec.Owner
	for name, mode := range map[string]os.FileMode{"owned": 0o777, "owned/file": 0o666, "owned/link": 0, "owned/folder": 0o777} {
		info, err := os.Lstat(filepath.Join(b.spec.Workspace, name))
		if err != nil {
			t.Fatal(err)
		}
		if uid, gid, known := ownerOf(info); known && (uid != owner.UID || gid != owner.GID) {
			t.Errorf("%s belongs to %d:%d, want %d:%d", name, uid, gid, owner.UID, owner.GID)
		}
		if want := mode &^ os.FileMode(owner.Umask); mode != 0 && info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", name, info.Mode().Perm(), want)
		}
	}
}
