package ui_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/ui"
	"github.com/google/go-cmp/cmp"
)

// A person sees every character of what is to be approved, whatever it is, and
// the question last.
func TestApproval(t *testing.T) {
	long := strings.Repeat("line\n", 200)
	for name, test := range map[string]struct {
		arguments map[string]any
		raw       string
		want      []string // lines, or parts of them
	}{
		"command":         {arguments: map[string]any{"command": "make\nmake test"}, want: []string{"  command", "  │ make", "  │ make test"}},
		"escape sequence": {arguments: map[string]any{"command": "echo \x1b[2J\x1b]0;t\a"}, want: []string{`  │ echo \x1b[2J\x1b]0;t\a`}},
		"other order":     {arguments: map[string]any{"command": "rm \u202etxt.exe\u2066"}, want: []string{`  │ rm \u202etxt.exe\u2066`}},
		"not to be seen":  {arguments: map[string]any{"command": "a\u200bb\u00a0c\u2028d\ufeff"}, want: []string{`  │ a\u200bb\u00a0c\u2028d\ufeff`}},
		"carriage return": {arguments: map[string]any{"command": "rm -rf / #\rls        "}, want: []string{`  │ rm -rf / #\rls        `}},
		"its own words":   {arguments: map[string]any{"command": "x\nbelljar: run it? y"}, want: []string{"  │ belljar: run it? y"}},
		"long":            {arguments: map[string]any{"command": long}, want: []string{"… 120 more lines that are not shown here"}},
		"long line":       {arguments: map[string]any{"command": strings.Repeat("a", 5000)}, want: []string{"a … 3,000 more characters"}},
		"list":            {arguments: map[string]any{"edits": []map[string]any{{"old_text": "a\nb"}}}, want: []string{`  │     "old_text": "a\nb"`}},
		"no JSON":         {raw: "{\x1b[1m", want: []string{`  │ {\x1b[1m`}},
	} {
		t.Run(name, func(t *testing.T) {
			arguments := test.raw
			if arguments == "" {
				data, err := json.Marshal(test.arguments)
				if err != nil {
					t.Fatal(err)
				}
				arguments = string(data)
			}
			var out strings.Builder
			r := ui.NewRenderer(&out, ui.Options{Width: 80})
			done := r.Approval(ui.Approval{Tool: "bash\x1b[1m", Arguments: arguments, Risk: "it removes\n\x1b[1mall", Question: "belljar: run it?\x1b[2J"})
			shown := out.String()
			if strings.ContainsAny(shown, "\x1b\a\r\u202e\u2066\u200b\u2028") {
				t.Errorf("shown: %q", shown)
			}
			lines := strings.Split(shown, "\n")
			for _, want := range test.want {
				found := false
				for _, line := range lines {
					found = found || strings.Contains(line, want)
				}
				if !found {
					t.Errorf("%q is not there:\n%s", want, shown)
				}
			}
			if want := `belljar: this is to be approved: bash\x1b[1m`; lines[0] != want {
				t.Errorf("begins with %q, want %q", lines[0], want)
			}
			if got := lines[len(lines)-2:]; !cmp.Equal(got, []string{"belljar: beware: it removes all", "belljar: run it? "}) {
				t.Errorf("ends with %q", got)
			}
			if err := r.Record(trajectory.Notice{Kind: "x", Text: "later"}); err != nil {
				t.Fatal(err)
			}
			if out.String() != shown {
				t.Errorf("something covers the question:\n%s", out.String())
			}
			if done(true); !strings.HasSuffix(out.String(), "belljar: later\n") {
				t.Errorf("after the question:\n%s", out.String())
			}
		})
	}
}

// A finished run shows what was decided; one that goes on has shown it.
func TestApprovalEvents(t *testing.T) {
	events := []trajectory.Body{
		trajectory.Approval{CallID: "c1", Decision: "allowed_always", By: "user", Risk: "it removes\x1b[1m all"},
		trajectory.Approval{CallID: "c2", Decision: "allowed", By: "user"},
		trajectory.Approval{CallID: "c3", Decision: "denied", By: "guard", Reason: "no", Risk: "x"},
	}
	for whole, want := range map[bool]string{
		true:  "  approval: allowed always by user, although: it removes all\n  approval: allowed by user\n  approval: denied by guard: no\n",
		false: "",
	} {
		var out strings.Builder
		r := ui.NewRenderer(&out, ui.Options{Width: 80, Whole: whole})
		for _, event := range events {
			if err := r.Record(event); err != nil {
				t.Fatal(err)
			}
		}
		if out.String() != want {
			t.Errorf("whole %v: %q, want %q", whole, out.String(), want)
		}
	}
}
