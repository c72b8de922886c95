package ui_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/ui"
	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"
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
		"escape sequence": {arguments: map[string]any{"command": "echo \x1b[2J\x1b]0;t\a"}, want: []string{`  │ echo ⟦U+001B⟧[2J⟦U+001B⟧]0;t⟦U+0007⟧`}},
		"other order":     {arguments: map[string]any{"command": "rm \u202etxt.exe\u2066"}, want: []string{`  │ rm ⟦U+202E⟧txt.exe⟦U+2066⟧`}},
		"not to be seen":  {arguments: map[string]any{"command": "a\u200bb\u00a0c\u2028d\ufeff"}, want: []string{`  │ a⟦U+200B⟧b⟦U+00A0⟧c⟦U+2028⟧d⟦U+FEFF⟧`}},
		"carriage return": {arguments: map[string]any{"command": "rm -rf / #\rls        "}, want: []string{`  │ rm -rf / #⟦U+000D⟧ls        `}},
		"its own words":   {arguments: map[string]any{"command": "x\nbelljar: run it? y"}, want: []string{"  │ belljar: run it? y"}},
		"long":            {arguments: map[string]any{"command": long}, want: []string{"… 120 more rows that are not shown here"}},
		"long line":       {arguments: map[string]any{"command": strings.Repeat("a", 5000)}, want: []string{"a … 3,000 more characters"}},
		"long lines":      {arguments: map[string]any{"command": strings.Repeat(strings.Repeat("a", 3000)+"\n", 50)}, want: []string{"more rows that are not shown here"}},
		"blank":           {arguments: map[string]any{"command": "rm -rf \u3164/ \u115f\u2800\u034f\ufe0f\U000e0101\u17b4"}, want: []string{"  │ rm -rf ⟦U+3164⟧/ ⟦U+115F⟧⟦U+2800⟧⟦U+034F⟧⟦U+FE0F⟧⟦U+E0101⟧⟦U+17B4⟧"}},
		"like a number":   {arguments: map[string]any{"command": `echo \u202e ⟦U+202E⟧`}, want: []string{`  │ echo \u202e ⟦U+27E6⟧U+202E⟧`}},
		"like a question": {arguments: map[string]any{"command": "echo ok #" + strings.Repeat(" ", 67) + "belljar: run it? [y]es: y"}, want: []string{"  ┊ belljar: run it? [y]es: y"}},
		"wide":            {arguments: map[string]any{"command": strings.Repeat("中", 39)}, want: []string{"  │ " + strings.Repeat("中", 38), "  ┊ 中"}},
		"name":            {arguments: map[string]any{"a\u2800" + strings.Repeat("b", 100): 1}, want: []string{"  a⟦U+2800⟧bb"}},
		"list":            {arguments: map[string]any{"edits": []map[string]any{{"old_text": "a\nb"}}}, want: []string{`  │     "old_text": "a\nb"`}},
		"no JSON":         {raw: "{\x1b[1m", want: []string{`  │ {⟦U+001B⟧[1m`}},
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
			done := r.Approval(ui.Approval{Tool: "bash\x1b[1m", Arguments: arguments, Risk: "it removes\n\x1b[1mall", Hint: "name\nit", Question: "belljar: run it?\x1b[2J"}, func() {})
			shown := out.String()
			if strings.ContainsAny(shown, "\x1b\a\r\u202e\u2066\u200b\u2028") {
				t.Errorf("shown: %q", shown)
			}
			lines := strings.Split(shown, "\n")
			if len(lines) > 90 {
				t.Errorf("%d lines are shown", len(lines))
			}
			for _, line := range lines[1 : len(lines)-3] {
				if !strings.HasPrefix(line, "  ") || runewidth.StringWidth(line) > 80 {
					t.Errorf("%q is a row of the call", line)
				}
			}
			for _, want := range test.want {
				found := false
				for _, line := range lines {
					found = found || strings.Contains(line, want)
				}
				if !found {
					t.Errorf("%q is not there:\n%s", want, shown)
				}
			}
			if want := `belljar: this is to be approved: bash⟦U+001B⟧[1m`; lines[0] != want {
				t.Errorf("begins with %q, want %q", lines[0], want)
			}
			if got := lines[len(lines)-3:]; !cmp.Equal(got, []string{"belljar: beware: it removes all", "belljar: instead: name it", "belljar: run it? "}) {
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
		trajectory.Approval{CallID: "c4", Decision: "allowed", By: "guard", Risk: "it broke down"},
	}
	for whole, want := range map[bool]string{
		true:  "  approval: allowed always by user, although: it removes all\n  approval: allowed by user\n  approval: denied by guard: no\n  approval: allowed by guard, although: it broke down\n",
		false: "  approval: allowed by guard, although: it broke down\n",
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
