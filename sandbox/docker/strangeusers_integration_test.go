//go:build linux

package docker_test

import (
	"os"
	"strings"
	"testing"

	"github.com/belljar/belljar/sandbox"
)

// TestStrangeUser has commands run as a number that the image has no entry
// for. Programs that look themselves up find one: ssh and others refuse to
// work otherwise.
func TestStrangeUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can ask for another user")
	}
	engine := connect(t)
	sb := start(t, engine, newSpec(t, 54321, 54322))
	const lookUp = `python3 -c 'import os, pwd, grp; u = pwd.getpwuid(os.getuid()); print(u.pw_dir, grp.getgrgid(os.getgid()).gr_gid)'; whoami >/dev/null`
	if got, want := script(t, sb, lookUp), sandbox.HomePoint+" 54322\n"; got != want {
		t.Errorf("looking itself up: %q, want %q", got, want)
	}
	got := execute(t, sb, sandbox.Command{Script: "git init -q repo && cd repo && touch file && git add file && git status --short && git commit -m first"})
	if got.err != nil || got.result.ExitCode == nil || *got.result.ExitCode != 128 || !strings.HasPrefix(got.output, "A  file\n") ||
		!strings.Contains(got.output, "Please tell me who you are") {
		t.Errorf("git without an identity: %s, error %v, output %q, want that nothing but that is missing", describe(got.result), got.err, got.output)
	}
	if got := script(t, sb, "cd repo && git -c user.name=Test -c user.email=test@example.org commit -qm first && git log --format=%an"); got != "Test\n" {
		t.Errorf("git with an identity: %q", got)
	}
}

// TestStrangersRepository works on a folder that belongs to somebody else.
func TestStrangersRepository(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can ask for another user")
	}
	engine := connect(t)
	first := newSpec(t, 54321, 54321)
	script(t, start(t, engine, first), "git init -q . && touch file && git add file && chmod -R a+rwX .")
	if err := os.Chmod(first.Workspace, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, profile := range []sandbox.Profile{sandbox.ProfileStrict, sandbox.ProfileDev} {
		t.Run(string(profile), func(t *testing.T) {
			spec := first
			spec.Profile, spec.Owner.UID, spec.Owner.GID = profile, 12345, 12345
			if got := script(t, start(t, engine, spec), "git status --short"); got != "A  file\n" {
				t.Errorf("git status: %q", got)
			}
		})
	}
}
