package sandboxtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/belljar/belljar/sandbox"
)

// protectTests check that what Spec.Protect names cannot be changed by a
// command, and that everything else can.
func protectTests() []test {
	return []test{
		{"Held", testHeld},
		{"Free", testFree},
		{"Info", testProtectInfo},
	}
}

// protection is what the tests ask for: a folder that stays, with a file and a
// folder in it that nobody changes.
func protection() sandbox.Protection {
	return sandbox.Protection{Fixed: []string{"held"}, ReadOnly: []string{"held/file", "held/folder"}}
}

// protected starts a sandbox with the protection above.
func (s *suite) protected(t *testing.T) *box {
	t.Helper()
	return s.start(t, func(spec *sandbox.Spec) {
		spec.Protect = protection()
		for _, dir := range []string{"held", "held/folder"} {
			plant(t, spec.Owner, filepath.Join(spec.Workspace, dir), func(path string) error { return os.Mkdir(path, 0o755) })
		}
		for _, file := range []string{"held/file", "held/folder/file", "held/other"} {
			plant(t, spec.Owner, filepath.Join(spec.Workspace, file), func(path string) error {
				return os.WriteFile(path, []byte("kept\n"), 0o644)
			})
		}
	})
}

// plant makes something on the host that belongs to the owner.
func plant(t *testing.T, owner sandbox.Owner, path string, make func(path string) error) {
	t.Helper()
	err := make(path)
	if err == nil {
		err = os.Chown(path, owner.UID, owner.GID)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func testHeld(t *testing.T, s *suite) {
	b := s.protected(t)
	for _, attempt := range []string{
		"echo bad >held/file",
		"echo bad >>held/folder/file",
		"echo bad >new; mv -f new held/file",
		"rm -f held/file",
		"chmod 777 held/file",
		"ln held/file name && echo bad >name",
		"ln -sf /etc/passwd held/file",
		"touch held/folder/new",
		"rm -f held/folder/file",
		"mkdir held/folder/new",
		"mv held/folder held/moved",
		"mv held moved",
		"rmdir held/folder",
		"mv held/file held/moved",
		"ln -s held by; echo bad >by/file",
		"echo bad >/proc/self/cwd/held/file",
		"echo bad >/proc/1/root$PWD/held/file",
		"echo bad >held/../held/./file",
		"mount -o remount,rw,bind $PWD/held/file && echo bad >held/file",
		"umount held/file && echo bad >held/file",
		"unshare -Urm sh -c 'umount held/file; mount -o remount,rw,bind held/file; echo bad >held/file'",
	} {
		t.Run(attempt, func(t *testing.T) {
			out := b.script(t, "("+attempt+") 2>/dev/null")
			if out.Status == sandbox.Exited && *out.ExitCode == 0 {
				t.Errorf("it worked; want it refused")
			}
		})
	}
	b.script(t, "rm -rf held by name new")
	for _, file := range []string{"held/file", "held/folder/file"} {
		got, err := os.ReadFile(filepath.Join(b.spec.Workspace, file))
		if err != nil || string(got) != "kept\n" {
			t.Errorf("on the host %s holds %q, error %v; want it kept", file, got, err)
		}
	}
	entries, err := os.ReadDir(filepath.Join(b.spec.Workspace, "held", "folder"))
	if err != nil || len(entries) != 1 {
		t.Errorf("on the host held/folder holds %v, error %v; want one file", entries, err)
	}
}

func testFree(t *testing.T, s *suite) {
	b := s.protected(t)
	out := b.script(t, `set -e
		cat held/file held/folder/file
		echo new >held/other; echo new >held/more; rm held/more; mkdir held/sub; mv held/other held/sub/other
		echo new >top`)
	wantExit(t, out, 0)
	wantOutput(t, out, "kept\nkept\n")
	got, err := os.ReadFile(filepath.Join(b.spec.Workspace, "held/sub/other"))
	if err != nil || string(got) != "new\n" {
		t.Errorf("on the host held/sub/other holds %q, error %v; want what the command wrote", got, err)
	}
}

func testProtectInfo(t *testing.T, s *suite) {
	b := s.protected(t)
	if got := b.Info().Protected; len(got.Fixed) != 1 || len(got.ReadOnly) != 2 {
		t.Errorf("Info().Protected = %+v, want what was asked for", got)
	}
	if got := b.Info().Loosened; len(got) != 0 {
		t.Errorf("Info().Loosened = %q, want nothing", got)
	}
}

// unprotectedTests check a runtime that cannot hold anything.
func unprotectedTests() []test {
	return []test{{"Refused", func(t *testing.T, s *suite) {
		spec := s.cfg.Spec(t)
		spec.Protect = protection()
		if sb, err := s.cfg.Runtime.Start(t.Context(), spec); err == nil {
			t.Error("a sandbox started that was asked to protect; want it refused")
			if err := sb.Close(); err != nil {
				t.Error(err)
			}
		}
	}}}
}
