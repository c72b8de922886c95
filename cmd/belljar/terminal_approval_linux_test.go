package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A sitting is a belljar at a terminal, with somebody who answers.
type sitting struct {
	t      *testing.T
	cmd    *exec.Cmd
	dir    string
	screen *os.File
	shown  *screenReader
}

// sit starts a run with scripted answers of the model at a terminal.
func sit(t *testing.T, turns string, args ...string) *sitting {
	t.Helper()
	dir, task := t.TempDir(), filepath.Join(t.TempDir(), "run.yaml")
	if err := os.WriteFile(task, []byte(turns), 0o644); err != nil {
		t.Fatal(err)
	}
	screen, terminal := openTerminal(t)
	args = append([]string{"run", "-w", dir, "--model", "script:" + task}, args...)
	s := &sitting{t, exec.CommandContext(t.Context(), "belljar", append(args, "go")...), dir, screen, nil}
	startOn(t, s.cmd, terminal)
	s.shown = readScreen(screen)
	return s
}

// answer types a line once a text is on the screen so many times.
func (s *sitting) answer(count int, question, line string) {
	s.t.Helper()
	s.shown.awaitCount(s.t, question, count)
	if _, err := io.WriteString(s.screen, line); err != nil {
		s.t.Fatal(err)
	}
}

// end waits for the end of the run and gives the exit code and the screen.
func (s *sitting) end() (code int, screen string) {
	s.t.Helper()
	<-s.shown.ended
	_ = s.cmd.Wait() // the exit code tells
	return s.cmd.ProcessState.ExitCode(), strings.ReplaceAll(s.shown.String(), "\r", "")
}

const approvalQuestion = "belljar: run it? [y]es, [a]lways"

// TestTerminalApproves answers questions about calls at a terminal.
func TestTerminalApproves(t *testing.T) {
	const turns = `turns:
  - tool_calls:
      - {name: bash, arguments: {command: "touch first"}}
      - {name: bash, arguments: {command: "touch second; echo '\e[2J\u202e'"}}
  - tool_calls:
      - {name: bash, arguments: {command: "touch third"}}
  - tool_calls:
      - {name: bash, arguments: {command: "touch fourth"}}
      - {name: bash, arguments: {command: "rm -rf .git"}}
  - text: Done.
`
	s := sit(t, turns, "--approval", "execute=always", "--protect=false")
	if err := os.Mkdir(filepath.Join(s.dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.answer(1, approvalQuestion, "yes, go ahead\n")
	s.answer(1, "belljar: is that a yes?", "ok\n")
	s.answer(2, "belljar: is that a yes?", "y\n")
	s.answer(2, approvalQuestion, "no, leave the second\n")
	s.answer(3, approvalQuestion, "a\n")
	s.answer(4, approvalQuestion, "\n") // it is risky, and only what is ordinary was agreed to
	code, text := s.end()
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	for name, there := range map[string]bool{"first": true, "second": false, "third": true, "fourth": true, ".git": true} {
		if _, err := os.Stat(filepath.Join(s.dir, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
	for want, count := range map[string]int{
		approvalQuestion: 4, "(every ordinary execute)": 3, "(every execute)": 1, "belljar: this is to be approved: bash": 4,
		"not run: the user said no: leave the second": 1, "│ not run: the user said no\n": 1,
		`  │ touch second; echo '⟦U+001B⟧[2J⟦U+202E⟧'`: 1, "\x1b[2J": 0, "\u202e": 0,
		"belljar: beware: rm -rf .git would remove the workspace's repository": 1,
	} {
		if got := strings.Count(text, want); got != count {
			t.Errorf("%q is shown %d times, want %d:\n%s", want, got, count, text)
		}
	}
}

// TestTerminalInterruptedAtQuestion: Ctrl-C ends a run at a question as anywhere
// else, and nothing is run.
func TestTerminalInterruptedAtQuestion(t *testing.T) {
	s := sit(t, "turns:\n  - tool_calls:\n      - {name: bash, arguments: {command: \"touch made\"}}\n  - text: Done.\n", "--approval", "always")
	s.answer(1, approvalQuestion, "\x03")
	code, text := s.end()
	if code != 128+int(syscall.SIGINT) || !strings.Contains(text, "interrupted") {
		t.Errorf("exit code %d:\n%s", code, text)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "made")); err == nil {
		t.Error("the call ran")
	}
}

// TestTerminalInputEnds: who ends the input can be asked nothing more, and the
// run goes on without.
func TestTerminalInputEnds(t *testing.T) {
	s := sit(t, "turns:\n  - tool_calls:\n      - {name: bash, arguments: {command: \"touch a\"}}\n  - tool_calls:\n      - {name: bash, arguments: {command: \"touch b\"}}\n  - text: Done.\n", "--approval", "always")
	s.answer(1, approvalQuestion, "\x04")
	code, text := s.end()
	if code != 0 || strings.Count(text, approvalQuestion) != 1 || strings.Count(text, "the terminal's input ended") != 2 {
		t.Errorf("exit code %d:\n%s", code, text)
	}
}

// TestTerminalQuestionsDoNotCross: a host that a background job asks for while a
// call is asked about is asked for afterwards.
func TestTerminalQuestionsDoNotCross(t *testing.T) {
	const turns = `turns:
  - tool_calls:
      - {name: bash, arguments: {command: "bash ask", background: true}}
  - tool_calls:
      - {name: write_file, arguments: {path: go, content: "x"}}
  - tool_calls:
      - {name: bash, arguments: {command: "until [ -e answered ]; do sleep 0.1; done"}}
  - text: Done.
`
	const ask = `until [ -e ready ]; do sleep 0.1; done
exec 3<>/dev/tcp/127.0.0.1/${HTTP_PROXY##*:}
printf 'CONNECT asked.invalid:9 HTTP/1.1\r\nHost: x\r\n\r\n' >&3
touch asked
read -r _ code _ <&3
touch answered
`
	s := sit(t, turns, "--approval", "write=always", "--network", "allow")
	if err := os.WriteFile(filepath.Join(s.dir, "ask"), []byte(ask), 0o644); err != nil {
		t.Fatal(err)
	}
	const host = "asked.invalid:9; allow it for this run? [y/N]"
	s.shown.await(t, approvalQuestion)
	if err := os.WriteFile(filepath.Join(s.dir, "ready"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(scriptTimeout); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(s.dir, "asked")); err == nil {
			break
		} else if time.Now().After(end) {
			t.Fatalf("the job never asked:\n%s", s.shown)
		}
	}
	if text := s.shown.String(); strings.Contains(text, host) {
		t.Errorf("two questions stand:\n%s", text)
	}
	s.answer(1, approvalQuestion, "y\n")
	s.answer(1, host, "y\n")
	if code, text := s.end(); code != 0 || strings.Count(text, approvalQuestion) != 1 || strings.Count(text, host) != 1 {
		t.Errorf("exit code %d:\n%s", code, text)
	}
}
