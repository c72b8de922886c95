package ui_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/ui"
)

// calling shows one call and gives the screen.
func calling(opts ui.Options, arguments string) string {
	var screen bytes.Buffer
	r := ui.NewRenderer(&screen, opts)
	defer r.Close()
	_ = r.Record(trajectory.ToolCall{CallID: "1", Name: "todo", Arguments: arguments})
	return screen.String()
}

func TestSteps(t *testing.T) {
	const list = `{"items":[{"content":"look around","status":"completed"},{"content":"mend \u001b[2J\u202eit\nwell","status":"in_progress"},` +
		`{"content":"a step that is longer than the screen is wide","status":"pending"},{"status":"pending","content":"?"}]}`
	for name, test := range map[string]struct {
		opts ui.Options
		args string
		want string
	}{
		"plain": {ui.Options{Width: 40}, list, `
● todo  1 of 4 steps completed
    ✓ look around
    ▸ mend it well
    ○ a step that is longer than the sc…
    ○ ?
`},
		"whole": {ui.Options{Width: 40, Whole: true}, list, `
● todo  1 of 4 steps completed
    ✓ look around
    ▸ mend it well
    ○ a step that is longer than the screen is wide
    ○ ?
`},
		"colour": {
			ui.Options{Width: 80, Terminal: ui.Terminal{Terminal: true, Color: true}},
			`{"items":[{"content":"a","status":"completed"},{"content":"b","status":"in_progress"},{"content":"c","status":"pending"}]}`,
			"\n\x1b[36m● todo\x1b[0m  1 of 3 steps completed\n" +
				"    \x1b[32m✓ \x1b[0m\x1b[2ma\x1b[0m\n    \x1b[36m▸ \x1b[0m\x1b[1mb\x1b[0m\n    \x1b[2m○ \x1b[0mc\n",
		},
		"empty":          {ui.Options{Width: 40}, `{"items":[]}`, "\n● todo  items []\n"},
		"other objects":  {ui.Options{Width: 80}, `{"edits":[{"content":"a"}]}`, "\n● todo  {\"edits\":[{\"content\":\"a\"}]}\n"},
		"numbers":        {ui.Options{Width: 80}, `{"items":[{"content":1,"status":2}]}`, "\n● todo  {\"items\":[{\"content\":1,\"status\":2}]}\n"},
		"more in a step": {ui.Options{Width: 80, Whole: true}, `{"items":[{"content":"a","status":"pending","run":true}]}`, "\n● todo\n  items  [{\"content\":\"a\",\"status\":\"pending\",\"run\":true}]\n"},
		"more in a step of a run": {
			ui.Options{Width: 80}, `{"items":[{"content":"a","status":"pending"},{"content":"b","status":"pending","run":true}]}`,
			"\n● todo  2 items\n",
		},
		"twice in a step":  {ui.Options{Width: 80, Whole: true}, `{"items":[{"content":"a","content":"b","status":"pending"}]}`, "\n● todo\n  items  [{\"content\":\"a\",\"content\":\"b\",\"status\":\"pending\"}]\n"},
		"another status":   {ui.Options{Width: 80, Whole: true}, `{"items":[{"content":"a","status":"open"}]}`, "\n● todo\n  items  [{\"content\":\"a\",\"status\":\"open\"}]\n"},
		"cut":              {ui.Options{Width: 80, Whole: true}, `{"items":[{"content":"a","status":"pending"}]`, "\n● todo  {\"items\":[{\"content\":\"a\",\"status\":\"pending\"}]\n"},
		"cut in a run":     {ui.Options{Width: 80}, `{"items":[{"content":"a","status":"pending"}]`, "\n● todo  {\"items\":[{\"content\":\"a\",\"status\":\"pending\"}]\n"},
		"beside a telling": {ui.Options{Width: 80}, `{"command":"make","items":[{"content":"a","status":"pending"}]}`, "\n● todo  make\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, calling(test.opts, test.args)); diff != "" {
				t.Errorf("screen (-want +got):\n%s", diff)
			}
		})
	}
}

// TestManySteps: what a tool would refuse does not flood the screen of a run, and
// is all there when that is read.
func TestManySteps(t *testing.T) {
	var list []string
	for i := range 100_000 {
		list = append(list, fmt.Sprintf(`{"content":"step %d","status":"pending"}`, i))
	}
	arguments := `{"items":[` + strings.Join(list, ",") + `]}`
	if whole := calling(ui.Options{Width: 80, Whole: true}, arguments); !strings.Contains(whole, `"step 99999"`) {
		t.Errorf("the last step is not in %.2000s", whole)
	}
	got := calling(ui.Options{Width: 80}, arguments)
	if lines := strings.Count(got, "\n"); lines > 70 || !strings.Contains(got, "… 99,940 more steps") {
		t.Errorf("%d lines: %.2000s", lines, got)
	}
}
