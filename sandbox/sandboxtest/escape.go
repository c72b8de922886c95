package sandboxtest

import (
	"strings"
	"testing"

	"github.com/belljar/belljar/internal/escape"
	"github.com/belljar/belljar/sandbox"
)

// testEscape makes every attempt to get out of the sandbox, in the program
// that the runtime has mounted for it, once as a command of its own and once
// below a shell.
func testEscape(t *testing.T, s *suite) {
	b := s.shared(t)
	helper := b.Info().Helper
	if helper == "" {
		t.Fatal("an isolated runtime has no program to make the attempts with: Info().Helper is empty")
	}
	args := escape.Args(helper)
	for _, cmd := range []sandbox.Command{{Args: args}, {Script: strings.Join(args, " ")}} {
		out := b.run(t, cmd)
		wantExit(t, out, 0)
		findings, err := escape.Read(strings.NewReader(out.stdout))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range findings {
			if f.Root && allowedCapabilities(b.spec) != 0 || f.HostKernel && !b.Info().Capabilities.Seccomp {
				continue
			}
			if !f.Denied {
				t.Errorf("%s: %s: %s", f.Area, f.Name, f.Detail)
			}
		}
	}
	next := b.script(t, "echo b; exit 4")
	wantExit(t, next, 4)
	wantOutput(t, next, "b\n")
}
