package sandboxtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/belljar/belljar/sandbox"
)

// envTests check that a command sees what it is given and nothing of the host
// or of other commands.
func envTests() []test {
	return []test{
		{"Given", testEnvGiven},
		{"NotKept", testEnvNotKept},
		{"HostNotPassed", testEnvHostNotPassed},
	}
}

func testEnvGiven(t *testing.T, s *suite) {
	b := s.start(t, func(spec *sandbox.Spec) {
		spec.Env = append(spec.Env[:len(spec.Env):len(spec.Env)], "SUITE_BASE=base", "SUITE_BOTH=spec")
	})
	const odd = "it's \"odd\" $HOME `x` \\ a=b\n\u4e2d\xff "
	for _, c := range []struct {
		name string
		cmd  sandbox.Command
	}{
		{"script", sandbox.Command{Script: `printf '%s|' "$SUITE_BASE" "$SUITE_BOTH" "$SUITE_ODD" "${SUITE_EMPTY-unset}" "${SUITE_NONE-unset}"`}},
		{"argv", sandbox.Command{Args: []string{"sh", "-c", `printf '%s|' "$SUITE_BASE" "$SUITE_BOTH" "$SUITE_ODD" "${SUITE_EMPTY-unset}" "${SUITE_NONE-unset}"`}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cmd.Env = []string{"SUITE_BOTH=command", "SUITE_ODD=" + odd, "SUITE_EMPTY="}
			out := b.run(t, c.cmd)
			wantExit(t, out, 0)
			wantOutput(t, out, "base|command|"+odd+"||unset|")
		})
	}
	t.Run("next command", func(t *testing.T) {
		out := b.script(t, `echo "$SUITE_BASE" "$SUITE_BOTH" "${SUITE_ODD-unset}"`)
		wantExit(t, out, 0)
		wantOutput(t, out, "base spec unset\n")
	})
	t.Run("told", func(t *testing.T) {
		if env := b.Info().Env; !slices.Contains(env, "SUITE_BASE=base") || !slices.Contains(env, "SUITE_BOTH=spec") {
			t.Errorf("Info tells of %q", env)
		}
	})
	t.Run("usable", func(t *testing.T) {
		out := b.script(t, `test -n "$PATH" && test -d "$HOME" && : >"$HOME/suite" && cd && echo s*e`)
		wantExit(t, out, 0)
		wantOutput(t, out, "suite\n")
	})
}

func testEnvNotKept(t *testing.T, s *suite) {
	b := s.shared(t)
	wantExit(t, b.script(t, "export SUITE_A=1; SUITE_B=2; f() { echo f; }; umask 0; alias x=y; set -f; f >/dev/null"), 0)
	out := b.script(t, `echo "${SUITE_A-unset} ${SUITE_B-unset}"; f 2>/dev/null || echo none; umask >&2; case $- in *f*) echo noglob;; esac`)
	wantExit(t, out, 0)
	wantOutput(t, out, "unset unset\nnone\n")
	if strings.Trim(out.stderr, "0\n") == "" && b.spec.Owner.Umask != 0 {
		t.Errorf("the umask of the command before is kept: %q", out.stderr)
	}
}

func testEnvHostNotPassed(t *testing.T, s *suite) {
	canary := "canary" + newMark()
	t.Setenv("SUITE_HOST_SECRET", canary)
	b := s.start(t)
	for _, cmd := range []sandbox.Command{
		{Script: "env"},
		{Args: []string{"env"}},
		{Script: "tr '\\0' '\\n' </proc/$$/environ"},
	} {
		out := b.run(t, cmd)
		wantExit(t, out, 0)
		if strings.Contains(out.stdout, canary) || !strings.Contains(out.stdout, "PATH=") {
			t.Errorf("%s: the environment is %q, want PATH in it and nothing of the host's", describe(cmd), clip(out.stdout))
		}
	}
}
