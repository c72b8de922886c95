package sandboxtest

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
)

// statusTests check how an end is told: by what wait(2) said, never by a code
// above 128.
func statusTests() []test {
	return []test{
		{"ExitCodes", testExitCodes},
		{"Signals", testSignals},
		{"Args", testArgs},
		{"ArgsNotFound", testArgsNotFound},
		{"ArgsNotExecutable", testArgsNotExecutable},
		{"Invalid", testInvalid},
	}
}

func testExitCodes(t *testing.T, s *suite) {
	b := s.shared(t)
	for _, c := range []struct {
		name, script string
		code         int
	}{
		{"true", "true", 0},
		{"false", "false", 1},
		{"exit 7", "exit 7", 7},
		{"child's code", "sh -c 'exit 7'", 7},
		{"exit 137 is no signal", "exit 137", 137},
		{"exit 143 is no signal", "exit 143", 143},
		{"exit 255", "exit 255", 255},
		{"child killed, handled", "sh -c 'kill -9 $$'; exit 5", 5},
		{"child killed, code passed on", "sh -c 'kill -9 $$'; exit $?", 137},
		{"not found", "no-such-program-here", 127},
		{"blank script", " \n\n", 0},
		{"comment", "# nothing", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := b.script(t, c.script)
			wantExit(t, out, c.code)
			wantOutput(t, out, "")
		})
	}
}

func testSignals(t *testing.T, s *suite) {
	b := s.shared(t)
	for _, c := range []struct{ name, script, signal string }{
		{"KILL itself", "echo before; kill -9 $$", "SIGKILL"},
		{"TERM itself", "echo before; kill -TERM $$; sleep 60", "SIGTERM"},
		{"HUP itself", "echo before; kill -HUP $$; sleep 60", "SIGHUP"},
		{"exec of a program that is killed", "echo before; exec sh -c 'kill -9 $$'", "SIGKILL"},
		{"TERM to its process group", "echo before; kill 0; sleep 60", "SIGTERM"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := b.script(t, c.script)
			wantStatus(t, out, sandbox.Signaled)
			if out.Signal != c.signal {
				t.Errorf("Signal = %q, want %q", out.Signal, c.signal)
			}
			if out.OOMKills != 0 || out.KilledCount != 0 {
				t.Errorf("OOMKills = %d, KilledCount = %d, want 0, 0", out.OOMKills, out.KilledCount)
			}
			wantOutput(t, out, "before\n")
			wantExit(t, b.script(t, "exit 4"), 4)
		})
	}
	t.Run("argv killed", func(t *testing.T) {
		out := b.run(t, sandbox.Command{Args: []string{"sh", "-c", "kill -9 $$"}})
		wantStatus(t, out, sandbox.Signaled)
		if out.Signal != "SIGKILL" {
			t.Errorf("Signal = %q, want SIGKILL", out.Signal)
		}
	})
}

func testArgs(t *testing.T, s *suite) {
	b := s.shared(t)
	for _, c := range []struct {
		name   string
		args   []string
		code   int
		stdout string
	}{
		{"output", []string{"printf", "%s|", "a b", "", "$HOME", "`x`", "'", "\\"}, 0, "a b||$HOME|`x`|'|\\|"},
		{"newline and other bytes", []string{"printf", "%s", "a\nb\xff\x01"}, 0, "a\nb\xff\x01"},
		{"code", []string{"sh", "-c", "exit 9"}, 9, ""},
		{"no shell in between", []string{"echo", "&&", ";", "|"}, 0, "&& ; |\n"},
		{"full path", []string{"/bin/sh", "-c", "echo x"}, 0, "x\n"},
		{"many arguments", append([]string{"sh", "-c", `echo $#`, "sh"}, make([]string, 2000)...), 0, "2000\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := b.run(t, sandbox.Command{Args: c.args})
			wantExit(t, out, c.code)
			wantOutput(t, out, c.stdout)
		})
	}
	t.Run("in a folder", func(t *testing.T) {
		wantExit(t, b.script(t, "mkdir -p argsdir && echo here >argsdir/f"), 0)
		out := b.run(t, sandbox.Command{Args: []string{"cat", "f"}, Dir: path.Join(b.mount, "argsdir")})
		wantExit(t, out, 0)
		wantOutput(t, out, "here\n")
	})
}

func testArgsNotFound(t *testing.T, s *suite) {
	b := s.shared(t)
	for _, name := range []string{"no-such-program-here", "./no-such-file", "/no/such/file"} {
		out := b.run(t, sandbox.Command{Args: []string{name, "x"}})
		wantExit(t, out, 127)
		if out.stderr == "" {
			t.Errorf("%s: nothing on stderr tells that it was not found", name)
		}
	}
}

func testArgsNotExecutable(t *testing.T, s *suite) {
	b := s.shared(t)
	name := filepath.Join(b.spec.Workspace, "plain.txt")
	if err := os.WriteFile(name, []byte("text\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path.Join(b.mount, "plain.txt"), b.mount} {
		out := b.run(t, sandbox.Command{Args: []string{name}})
		wantExit(t, out, 126)
		if out.stderr == "" {
			t.Errorf("%s: nothing on stderr tells why it did not run", name)
		}
	}
}

func testInvalid(t *testing.T, s *suite) {
	b := s.shared(t)
	for _, c := range []struct {
		name string
		cmd  sandbox.Command
	}{
		{"empty", sandbox.Command{}},
		{"both", sandbox.Command{Script: "true", Args: []string{"true"}}},
		{"NUL in script", sandbox.Command{Script: "echo a\x00b"}},
		{"NUL in argument", sandbox.Command{Args: []string{"echo", "a\x00b"}}},
		{"NUL in environment", sandbox.Command{Script: "true", Env: []string{"A=\x00"}}},
		{"relative folder", sandbox.Command{Script: "true", Dir: "sub"}},
		{"environment without =", sandbox.Command{Script: "true", Env: []string{"A"}}},
		{"negative timeout", sandbox.Command{Script: "true", Timeout: -time.Second}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := b.try(t, c.cmd); !errors.Is(err, sandbox.ErrInvalidCommand) {
				t.Errorf("error = %v, want one that wraps ErrInvalidCommand", err)
			}
		})
	}
	for _, code := range []int{0, 3} { // the sandbox is as good as before
		wantExit(t, b.script(t, "exit "+strconv.Itoa(code)), code)
	}
}
