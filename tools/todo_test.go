package tools_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/belljar/belljar/tools"
)

// items are the arguments of a list of steps, each "STATUS CONTENT".
func items(steps ...string) string {
	list := []map[string]string{}
	for _, s := range steps {
		status, content, _ := strings.Cut(s, " ")
		list = append(list, map[string]string{"content": content, "status": status})
	}
	text, _ := json.Marshal(map[string]any{"items": list}) // texts can always be written
	return string(text)
}

func TestTodo(t *testing.T) {
	many := func(n int, content string) []string {
		steps := make([]string, n)
		for i := range steps {
			steps[i] = fmt.Sprintf("pending %s%d", content, i)
		}
		return steps
	}
	for name, test := range map[string]struct {
		args, want string
		failed     bool
	}{
		"empty":            {args: items(), want: "the list is empty now"},
		"begun":            {args: items("completed look", "in_progress mend\n it", "pending test"), want: "1 of 3 completed; in progress: mend it"},
		"done":             {args: items("completed look", "completed mend"), want: "2 of 2 completed"},
		"the most":         {args: items(many(tools.MaxTodoItems, "s")...), want: "0 of 50 completed"},
		"one more":         {args: items(many(tools.MaxTodoItems+1, "s")...), want: "the list has 51 steps, and may have 50", failed: true},
		"too long":         {args: items(many(20, strings.Repeat("ü", 250))...), want: "and may have 8,000 bytes", failed: true},
		"padded":           {args: strings.Repeat(" ", tools.MaxTodoBytes) + items("pending a"), want: "and may have 8,000 bytes", failed: true},
		"two at once":      {args: items("in_progress a", "pending b", "in_progress c"), want: "items[0] and items[2] are both in_progress: at most one may be", failed: true},
		"nothing said":     {args: items("pending a", "pending  "), want: "items[1] says nothing", failed: true},
		"no status":        {args: `{"items":[{"content":"a"}]}`, want: `"items[0].status" is missing (a string)`, failed: true},
		"another status":   {args: items("done a"), want: `"items[0].status" is "done", and must be one of "pending", "in_progress", "completed"`, failed: true},
		"an id":            {args: `{"items":[{"id":1,"content":"a","status":"pending"}]}`, want: `"items[0].id" is unknown`, failed: true},
		"texts":            {args: `{"items":["a"]}`, want: `"items[0]" is a string, and must be an object`, failed: true},
		"no list":          {args: `{}`, want: `"items" is missing (an array)`, failed: true},
		"another argument": {args: `{"todos":[]}`, want: `"todos" is unknown`, failed: true},
		"no JSON":          {args: `{"items":[`, want: "could not be read", failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			var r tools.Registry
			if err := r.Register(tools.NewTodo()); err != nil {
				t.Fatal(err)
			}
			res, err := r.Execute(t.Context(), "todo", json.RawMessage(test.args))
			if err != nil {
				t.Fatal(err)
			}
			if got := text(t, res); !strings.Contains(got, test.want) || res.IsError != test.failed {
				t.Errorf("failed %t: %s", res.IsError, got)
			}
		})
	}
}

// TestTodoSaysItsLimits: the description has the figures that hold.
func TestTodoSaysItsLimits(t *testing.T) {
	def := tools.NewTodo().Definition()
	for _, want := range []string{"At most 50 steps", "8,000 bytes"} {
		if !strings.Contains(def.Description, want) {
			t.Errorf("the description does not say %q", want)
		}
	}
	if def.Effect != tools.Read || !def.Standing {
		t.Errorf("effect %d, standing %t", def.Effect, def.Standing)
	}
}
