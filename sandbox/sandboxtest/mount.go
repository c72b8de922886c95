package sandboxtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/belljar/belljar/sandbox"
)

// mountTests check that further folders of the host are seen.
func mountTests() []test {
	return []test{
		{"BothWays", testMountBothWays},
		{"Refused", testMountRefused},
	}
}

// mounting starts a sandbox with one more folder, in which the owner may
// write, and tells where it is seen.
func (s *suite) mounting(t *testing.T, readOnly bool) (b *box, source, target string) {
	t.Helper()
	// A workspace is a folder that the owner may write in.
	source = s.cfg.Spec(t).Workspace
	if err := os.WriteFile(filepath.Join(source, "from-host"), []byte("hello\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b = s.start(t, func(spec *sandbox.Spec) {
		spec.Mounts = []sandbox.Mount{{Source: source, Target: "/mnt/further", ReadOnly: readOnly}}
	})
	mounts := b.Info().Mounts
	if len(mounts) != 1 || mounts[0].Source != source || mounts[0].ReadOnly != readOnly {
		t.Fatalf("Info().Mounts = %+v, want the one of %s", mounts, source)
	}
	return b, source, mounts[0].Target
}

func testMountBothWays(t *testing.T, s *suite) {
	b, source, target := s.mounting(t, false)
	out := b.run(t, sandbox.Command{Script: "cat from-host && echo back >from-inside", Dir: target})
	wantExit(t, out, 0)
	wantOutput(t, out, "hello\n")
	got, err := os.ReadFile(filepath.Join(source, "from-inside"))
	if err != nil || string(got) != "back\n" {
		t.Errorf("from-inside = %q, %v", got, err)
	}
	if out.Dir != target {
		t.Errorf("Dir = %q, want %q", out.Dir, target)
	}
}

func testMountReadOnly(t *testing.T, s *suite) {
	b, source, target := s.mounting(t, true)
	wantExit(t, b.run(t, sandbox.Command{Script: "cat from-host", Dir: target}), 0)
	for _, script := range []string{"echo x >from-host", ": >new", "rm from-host", "chmod 777 .", "mkdir d", "ln from-host link"} {
		if out := b.run(t, sandbox.Command{Script: script, Dir: target}); out.ExitCode == nil || *out.ExitCode == 0 {
			t.Errorf("%q worked: %s", script, show(out.Result))
		}
	}
	if got, err := os.ReadFile(filepath.Join(source, "from-host")); err != nil || string(got) != "hello\n" {
		t.Errorf("from-host = %q, %v", got, err)
	}
}

func testMountRefused(t *testing.T, s *suite) {
	for name, mount := range map[string]sandbox.Mount{
		"missing source":   {Source: filepath.Join(t.TempDir(), "missing"), Target: "/mnt/a"},
		"over the root":    {Source: t.TempDir(), Target: "/"},
		"in the workspace": {Source: t.TempDir(), Target: sandbox.MountPoint + "/a"},
	} {
		spec := s.cfg.Spec(t)
		spec.Mounts = []sandbox.Mount{mount}
		if sb, err := s.cfg.Runtime.Start(t.Context(), spec); err == nil {
			t.Errorf("%s: it started", name)
			if err := sb.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
