package trajectory_test

import (
	"strings"
	"testing"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/google/go-cmp/cmp"
)

// TestNest: what is recorded below a call has the call on its line, and is read
// as below it.
func TestNest(t *testing.T) {
	f := &file{}
	w := trajectory.NewWriter(f)
	record(t, w, trajectory.Message{Role: "user", Text: "task"})
	record(t, trajectory.Nest("c7", w), trajectory.Message{Role: "user", Text: "part of it"}, trajectory.Usage{Input: 3})
	if lines := strings.Split(f.String(), "\n"); !strings.Contains(lines[1], `"seq":2,"parent":"c7","role":"user","text":"part of it"}`) || strings.Contains(lines[0], "parent") {
		t.Errorf("record:\n%s", f.String())
	}
	var got []trajectory.Body
	for event, err := range trajectory.NewReader(&f.Buffer).All() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, event.Body)
	}
	want := []trajectory.Body{
		trajectory.Message{Role: "user", Text: "task"},
		trajectory.Nested{Parent: "c7", Body: trajectory.Message{Role: "user", Text: "part of it"}},
		trajectory.Nested{Parent: "c7", Body: trajectory.Usage{Input: 3}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	if inner, parent := trajectory.Unnest(got[2]); parent != "c7" || inner != (trajectory.Usage{Input: 3}) {
		t.Errorf("unnested %+v below %q", inner, parent)
	}
	if inner, parent := trajectory.Unnest(got[0]); parent != "" || inner != got[0] {
		t.Errorf("unnested %+v below %q", inner, parent)
	}
}

// TestNestedIsMasked: a secret is hidden in what a sub-agent does as well.
func TestNestedIsMasked(t *testing.T) {
	const secret = "sk-canary-0123456789"
	f := &file{}
	hide := trajectory.NewMasker(secret).Wrap(trajectory.NewWriter(f))
	for _, body := range []trajectory.Body{
		trajectory.Message{Role: "user", Text: secret},
		trajectory.ToolCall{CallID: "c1", Name: "bash", Arguments: `{"command":"` + secret + `"}`},
		trajectory.ToolResult{CallID: "c1", Name: "bash", Content: []trajectory.Part{{Type: "text", Text: secret}}},
		trajectory.End{Final: secret},
	} {
		record(t, trajectory.Nest("p"+secret, hide), body)
	}
	if strings.Contains(f.String(), secret) || strings.Count(f.String(), trajectory.Hidden) != 8 {
		t.Errorf("record:\n%s", f.String())
	}
}
