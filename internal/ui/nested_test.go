package ui_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/ui"
)

// nestedEvents are a run that hands a part of its task to a sub-agent.
func nestedEvents(stop string) []trajectory.Body {
	below := func(body trajectory.Body) trajectory.Body { return trajectory.Nested{Parent: "1", Body: body} }
	return []trajectory.Body{
		trajectory.Start{Task: "Mend it"},
		trajectory.Message{Role: "user", Text: "Mend it"},
		trajectory.Message{Role: "assistant", Text: "I ask for help."},
		trajectory.ToolCall{CallID: "1", Name: "agent", Arguments: `{"task":"Find \u001b[2Jthe limit"}`},
		below(trajectory.Start{Task: "Find the limit"}),
		below(trajectory.Message{Role: "user", Text: "Find the limit"}),
		below(trajectory.Message{Role: "assistant", Text: "I look."}),
		below(trajectory.ToolCall{CallID: "1", Name: "bash", Arguments: `{"command":"cat app.py"}`}),
		below(trajectory.ToolResult{CallID: "1", Name: "bash", Status: "exited", ExitCode: code(0), DurationMS: 3, Content: text("a\x1b]0;x\x07 line that is longer than the screen is\nand more")}),
		below(trajectory.Notice{Kind: "retry", Text: "the server is busy"}),
		below(trajectory.Message{Role: "assistant", Text: "It is in line 3."}),
		below(trajectory.End{Stop: stop, Final: "It is in line 3."}),
		trajectory.ToolResult{CallID: "1", Name: "agent", DurationMS: 1200, Content: text("It is in line 3.\n[completed after 2 turns]")},
		trajectory.Message{Role: "assistant", Text: "Mended."},
		trajectory.End{Stop: "finished", Final: "Mended."},
	}
}

func TestNested(t *testing.T) {
	for name, test := range map[string]struct {
		opts ui.Options
		stop string
		want string
	}{
		"plain": {ui.Options{Width: 40}, "finished", `
I ask for help.

● agent  Find the limit
  ┃
  ┃ I look.
  ┃
  ┃ ● bash  cat app.py
  ┃   ✓ exit 0 · 3 ms
  ┃   │ a line that is longer than the …
  ┃   │ and more
  ┃ belljar: the server is busy
  ✓ ok · 1.2 s
  │ It is in line 3.
  │ [completed after 2 turns]

Mended.
`},
		"not finished": {ui.Options{Width: 40}, "max_turns", `
I ask for help.

● agent  Find the limit
  ┃
  ┃ I look.
  ┃
  ┃ ● bash  cat app.py
  ┃   ✓ exit 0 · 3 ms
  ┃   │ a line that is longer than the …
  ┃   │ and more
  ┃ belljar: the server is busy
  ┃
  ┃ It is in line 3.
  ✓ ok · 1.2 s
  │ It is in line 3.
  │ [completed after 2 turns]

Mended.
`},
		"whole": {ui.Options{Width: 40, Whole: true}, "finished", `
> Mend it

I ask for help.

● agent  Find the limit
  ┃
  ┃ > Find the limit
  ┃
  ┃ I look.
  ┃
  ┃ ● bash  cat app.py
  ┃   ✓ exit 0 · 3 ms
  ┃   │ a line that is longer than the screen is
  ┃   │ and more
  ┃ belljar: the server is busy
  ┃
  ┃ It is in line 3.
  ✓ ok · 1.2 s
  │ It is in line 3.
  │ [completed after 2 turns]

Mended.
`},
	} {
		t.Run(name, func(t *testing.T) {
			var screen bytes.Buffer
			r := ui.NewRenderer(&screen, test.opts)
			for _, body := range nestedEvents(test.stop) {
				_ = r.Record(body)
			}
			r.Close()
			if diff := cmp.Diff(strings.Split(test.want, "\n"), strings.Split(screen.String(), "\n")); diff != "" {
				t.Errorf("screen (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNestedWaitsForAnswer: what a sub-agent does covers no question.
func TestNestedWaitsForAnswer(t *testing.T) {
	var screen bytes.Buffer
	r := ui.NewRenderer(&screen, ui.Options{Width: 80, Terminal: ui.Terminal{Terminal: true, Color: true}})
	defer r.Close()
	done := r.Approval(ui.Approval{Tool: "bash", Arguments: `{"command":"make"}`, Agent: "Find \x1b[2J\u202eit\nand more", Question: "run it?"}, func() {})
	_ = r.Record(trajectory.Nested{Parent: "1", Body: trajectory.ToolCall{CallID: "2", Name: "read_file", Arguments: `{"path":"x"}`}})
	asked := screen.String()
	if !strings.HasSuffix(asked, "run it?\x1b[0m ") || strings.Contains(asked, "read_file") {
		t.Errorf("the question is covered: %q", asked)
	}
	if want := "belljar: a sub-agent asks for it, whose task is: Find ⟦U+001B⟧[2J⟦U+202E⟧it …\x1b"; !strings.Contains(asked, want) || strings.Contains(asked, "and more") {
		t.Errorf("it does not say %q: %q", want, asked)
	}
	done(true)
	if after := strings.TrimPrefix(screen.String(), asked); !strings.Contains(after, "\x1b[2m  ┃\x1b[0m \x1b[36m● read_file\x1b[0m") {
		t.Errorf("what came meanwhile is not shown: %q", after)
	}
}
