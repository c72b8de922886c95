package ui_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/ui"
)

// screenOf records events and gives what reached the screen.
func screenOf(t *testing.T, opts ui.Options, events ...trajectory.Body) string {
	t.Helper()
	var screen bytes.Buffer
	r := ui.NewRenderer(&screen, opts)
	for _, event := range events {
		if err := r.Record(event); err != nil {
			t.Fatal(err)
		}
	}
	r.Close()
	return screen.String()
}

func TestRendererCallsAndResults(t *testing.T) {
	const diff = "edited a.txt (1 replacement)\n--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n"
	long := trajectory.ToolCall{CallID: "1", Name: "bash", Arguments: `{"timeout_seconds":2.5,"command":"1\n  2\n3\n4\n5\n6\n7\n"}`}
	write := trajectory.ToolCall{CallID: "1", Name: "write_file", Arguments: `{"path":"a.txt","content":"one \n\ttwo\u001b[2J\n","empty":""}`}
	for _, test := range []struct {
		name        string
		event       trajectory.Body
		live, whole string
	}{
		{
			name: "long command", event: long,
			live:  "\n● bash  1\n          2\n        3\n        4\n        5\n        6\n        7\n        · timeout_seconds 2.5\n",
			whole: "\n● bash  1\n          2\n        3\n        4\n        5\n        6\n        7\n  timeout_seconds  2.5\n",
		},
		{
			name: "written content", event: write,
			live:  "\n● write_file  a.txt · empty \"\"\n",
			whole: "\n● write_file  a.txt\n  content\n  │ one \n  │         two\n  empty  \"\"\n",
		},
		{
			name: "a search", event: trajectory.ToolCall{Name: "grep", Arguments: `{"path":"src","pattern":"func \\w+","context":2}`},
			live:  "\n● grep  func \\w+ · path src · context 2\n",
			whole: "\n● grep  func \\w+\n  path  src\n  context  2\n",
		},
		{
			name: "no telling argument", event: trajectory.ToolCall{Name: "x", Arguments: `{"b":1,"a":[null]}`},
			live:  "\n● x  b 1 · a [null]\n",
			whole: "\n● x\n  b  1\n  a  [null]\n",
		},
		{
			name: "no arguments", event: trajectory.ToolCall{Name: "x", Arguments: `{}`},
			live: "\n● x\n", whole: "\n● x\n",
		},
		{
			name: "malformed arguments", event: trajectory.ToolCall{Name: "x", Arguments: `{"path":"a`},
			live: "\n● x  {\"path\":\"a\n", whole: "\n● x  {\"path\":\"a\n",
		},
		{
			name: "exit code", event: trajectory.ToolResult{
				ExitCode: code(3), Content: text("out\n[exit code 3]\n[the next command runs in /workspace/a]"), Output: "outputs/0001.txt",
			},
			live:  "  ✗ exit 3 · 0 ms\n  │ out\n  │ [the next command runs in /workspace/a]\n",
			whole: "  ✗ exit 3 · 0 ms\n  │ out\n  │ [exit code 3]\n  │ [the next command runs in /workspace/a]\n  whole output  dir/outputs/0001.txt\n",
		},
		{
			name:  "exit code of something else",
			event: trajectory.ToolResult{ExitCode: code(0), Content: text("[exit code 0]\nout\n[timed out]")},
			live:  "  ✓ exit 0 · 0 ms\n  │ [exit code 0]\n  │ out\n  │ [timed out]\n",
			whole: "  ✓ exit 0 · 0 ms\n  │ [exit code 0]\n  │ out\n  │ [timed out]\n",
		},
		{
			name: "diff of an edit", event: trajectory.ToolResult{Content: text(diff)},
			live: "  ✓ ok · 0 ms\n  │ edited a.txt (1 replacement) · +1 -1\n  │ @@ -1,2 +1,2 @@\n  │  same\n  │ -old\n  │ +new\n",
			whole: "  ✓ ok · 0 ms\n  │ edited a.txt (1 replacement)\n  │ --- a.txt\n  │ +++ a.txt\n" +
				"  │ @@ -1,2 +1,2 @@\n  │  same\n  │ -old\n  │ +new\n",
		},
		{
			name: "diff of a command", event: trajectory.ToolResult{ExitCode: code(0), Content: text("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y")},
			live:  "  ✓ exit 0 · 0 ms\n  │ --- a\n  │ +++ b\n  │ @@ -1 +1 @@\n  │ -x\n  │ +y\n",
			whole: "  ✓ exit 0 · 0 ms\n  │ --- a\n  │ +++ b\n  │ @@ -1 +1 @@\n  │ -x\n  │ +y\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.live, screenOf(t, ui.Options{Width: 80}, test.event)); diff != "" {
				t.Errorf("live (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.whole, screenOf(t, ui.Options{Width: 80, Whole: true, SessionDir: "dir"}, test.event)); diff != "" {
				t.Errorf("whole (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRendererColorsDiffs(t *testing.T) {
	const result = "edited\n--- a\n+++ a\n@@ -1,2 +1,2 @@\n same\n-old\n+new\nafter\n- a list\n"
	screen := screenOf(t, ui.Options{Width: 80, Whole: true, Terminal: ui.Terminal{Color: true}}, trajectory.ToolResult{Content: text(result)})
	for _, want := range []string{"\x1b[36m@@ -1,2 +1,2 @@\x1b[0m\n", "\x1b[31m-old\x1b[0m\n", "\x1b[32m+new\x1b[0m\n", "\x1b[0m- a list\n", "\x1b[0m same\n"} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is missing in %q", want, screen)
		}
	}
}

func TestRendererNotices(t *testing.T) {
	for _, test := range []struct {
		name        string
		notice      trajectory.Notice
		live, whole string
	}{
		{"bad call", trajectory.Notice{Kind: "bad_call", Text: "not read\nYou wrote: x"}, "belljar: told the model: not read\n", "belljar: told the model: not read You wrote: x\n"},
		{"told the model", trajectory.Notice{Kind: "repeated_call", Text: "again"}, "belljar: told the model: again\n", "belljar: told the model: again\n"},
		{"told the model of a call", trajectory.Notice{Kind: "written_call", Text: "text"}, "belljar: told the model: text\n", "belljar: told the model: text\n"},
		{"retry", trajectory.Notice{Kind: "retry", Text: "busy"}, "belljar: busy\n", "belljar: busy\n"},
		{"reason of a failure", trajectory.Notice{Kind: "error", Text: "no\nway"}, "", "belljar: no way\n"},
		{"summary", trajectory.Notice{Kind: "summary", Text: "the\ngist"}, "", "belljar: told the model: the gist\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := screenOf(t, ui.Options{Width: 80}, test.notice); got != test.live {
				t.Errorf("live: %q, want %q", got, test.live)
			}
			if got := screenOf(t, ui.Options{Width: 80, Whole: true}, test.notice); got != test.whole {
				t.Errorf("whole: %q, want %q", got, test.whole)
			}
		})
	}
}

func TestRendererLeavesTheFinalAnswerOut(t *testing.T) {
	first := trajectory.Message{Role: "assistant", Text: "I look."}
	call := trajectory.ToolCall{CallID: "1", Name: "bash", Arguments: `{"command":"ls"}`}
	last := trajectory.Message{Role: "assistant", Text: "Done."}
	for _, test := range []struct{ name, stop, want string }{
		{"finished", "finished", "\nI look.\n\n● bash  ls\n"},
		{"not finished", "max_turns", "\nI look.\n\n● bash  ls\n\nDone.\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var screen bytes.Buffer
			r := ui.NewRenderer(&screen, ui.Options{Width: 80, FinalElsewhere: true})
			r.Text("I look.")
			for _, event := range []trajectory.Body{first, call, last, trajectory.Usage{}, trajectory.End{Stop: test.stop, Final: "Done."}} {
				if err := r.Record(event); err != nil {
					t.Fatal(err)
				}
			}
			r.Close()
			if diff := cmp.Diff(test.want, screen.String()); diff != "" {
				t.Errorf("screen (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTotalsBreakBetweenParts(t *testing.T) {
	var screen bytes.Buffer
	r := ui.NewRenderer(&screen, ui.Options{Width: 60})
	r.Totals(ui.Totals{Stop: "finished", Good: true, Turns: 1, Usage: trajectory.Usage{Input: 1200, Output: 5}, Again: "belljar show abcd"})
	r.Close()
	want := "\nbelljar: finished · 1 turn · 1,200 tokens in, 5 out\n  cost unknown · belljar show abcd\n"
	if diff := cmp.Diff(want, screen.String()); diff != "" {
		t.Error(diff)
	}
}
