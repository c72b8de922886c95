package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const subAgentTurns = `turns:
  - tool_calls:
      - {name: todo, arguments: {items: [{content: "Look \e[2J\u202earound", status: in_progress}]}}
      - {name: agent, arguments: {task: "Make the \e[2Jfiles"}}
  - text: I make them.
    tool_calls:
      - {name: bash, arguments: {command: "touch first"}}
      - {name: bash, arguments: {command: "touch second"}}
  - text: One of them is made.
  - tool_calls:
      - {name: bash, arguments: {command: "touch third"}}
  - text: Done.
`

// TestTerminalSubAgentAsks: a person sees who does what, and is told which agent
// asks.
func TestTerminalSubAgentAsks(t *testing.T) {
	s := sit(t, subAgentTurns, "--approval", "execute=always")
	s.answer(1, approvalQuestion, "y\n") // that there is a sub-agent
	s.answer(2, approvalQuestion, "no, one is enough\n")
	s.answer(3, approvalQuestion, "a\n") // holds for all agents
	code, text := s.end()
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	for name, there := range map[string]bool{"first": false, "second": true, "third": true} {
		if _, err := os.Stat(filepath.Join(s.dir, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
	for want, count := range map[string]int{
		approvalQuestion: 3, "belljar: a sub-agent asks for it, whose task is: Make the ⟦U+001B⟧[2Jfiles": 2,
		"    ▸ Look around\n": 1, "  ┃ ● bash  touch first\n": 1, "  ┃   ✗ denied · 0 ms\n  ┃   │ not run: the user said no: one is enough\n": 1,
		"\n● bash  touch third\n": 1, "  │ [the sub-agent completed its task after 2 turns]\n": 1, "\x1b[2J": 0, "\u202e": 0,
	} {
		if got := strings.Count(text, want); got != count {
			t.Errorf("%q is shown %d times, want %d:\n%s", want, got, count, text)
		}
	}
}

// TestTerminalSubAgentIsInterrupted: Ctrl-C at a sub-agent's question ends the
// run, with a whole record of both.
func TestTerminalSubAgentIsInterrupted(t *testing.T) {
	s := sit(t, subAgentTurns, "--approval", "execute=always")
	s.answer(1, approvalQuestion, "y\n")
	s.answer(2, approvalQuestion, "\x03")
	code, text := s.end()
	if code != 128+int(syscall.SIGINT) || !strings.Contains(text, "interrupted") {
		t.Errorf("exit code %d:\n%s", code, text)
	}
	var state string
	for _, pair := range s.cmd.Env {
		if dir, is := strings.CutPrefix(pair, "BELLJAR_STATE_DIR="); is {
			state = dir // the last one counts
		}
	}
	records, err := filepath.Glob(filepath.Join(state, "*", "events.jsonl"))
	if err != nil || len(records) != 1 {
		t.Fatalf("records %q, error %v", records, err)
	}
	data, err := os.ReadFile(records[0])
	if err != nil {
		t.Fatal(err)
	}
	for want, count := range map[string]int{
		`"parent":"call00002","stop":"canceled"`: 1, `"stop":"canceled"`: 2, `"type":"tool_call"`: 4, `"type":"tool_result"`: 4,
	} {
		if got := strings.Count(string(data), want); got != count {
			t.Errorf("%s is there %d times, want %d:\n%s", want, got, count, data)
		}
	}
}
