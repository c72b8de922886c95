package agent_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

// TestLongConversation: a run that reads much more than the model takes comes
// to its end, known window or not.
func TestLongConversation(t *testing.T) {
	for name, test := range map[string]struct {
		window, limit, looks, size int
		refused, compactions       int // at most
	}{
		"window known":              {window: 8000, limit: 8000, looks: 60, size: 4000, compactions: 16},
		"large window":              {window: 128_000, limit: 128_000, looks: 120, size: 8000, compactions: 4},
		"nothing known":             {limit: 8000, looks: 60, size: 4000, refused: 2, compactions: 16},
		"less than is said":         {window: 16_000, limit: 8000, looks: 60, size: 4000, refused: 2, compactions: 16},
		"results as large as room":  {window: 8000, limit: 8000, looks: 4, size: 30_000, compactions: 4},
		"short":                     {window: 128_000, limit: 128_000, looks: 10, size: 4000},
		"nothing known, no refusal": {looks: 60, size: 4000},
	} {
		t.Run(name, func(t *testing.T) {
			m := &narrow{limit: test.limit, looks: test.looks}
			m.check = func(req model.Request) {
				if first := req.Messages[0].Text; first != "the task" {
					t.Errorf("the first message is %q", first)
				}
			}
			a, memory := newAgent(t, m, registry(t, look(test.size)), func(o *agent.Options) { o.ContextWindow, o.MaxTurns = test.window, 1000 })
			outcome, err := a.Run(t.Context(), "the task")
			if err != nil || outcome.Stop != agent.StopFinished || outcome.Turns != test.looks+1 {
				t.Fatalf("ended as %s after %d turns, error %v", outcome.Stop, outcome.Turns, err)
			}
			compacted := notices(memory, trajectory.NoticeCompacted)
			if m.refused > test.refused || len(compacted) > test.compactions || test.compactions > 0 && len(compacted) == 0 {
				t.Errorf("%d refusals, and compactions:\n%s", m.refused, strings.Join(compacted, "\n"))
			}
			if n := len(notices(memory, trajectory.NoticeSummary)); n != len(m.summed) {
				t.Errorf("%d summaries on record, %d made", n, len(m.summed))
			}
			ids, input := map[string]bool{}, 0
			for _, body := range memory.Bodies() {
				switch b := body.(type) {
				case trajectory.ToolResult:
					if whole := page(json.RawMessage(fmt.Sprintf(`{"n":%d}`, 100*(len(ids)+1))), test.size); b.Content[0].Text != whole {
						t.Errorf("result %d on record is %.100q", len(ids)+1, b.Content[0].Text)
					}
					if ids[b.CallID] {
						t.Errorf("the id %s is there twice", b.CallID)
					}
					ids[b.CallID] = true
				case trajectory.Usage:
					input += b.Input
				}
			}
			if len(ids) != test.looks {
				t.Errorf("%d results on record", len(ids))
			}
			sent := 0
			for _, size := range m.sizes {
				if test.limit == 0 || size <= test.limit {
					sent += size
				}
			}
			if input != sent || outcome.Usage.Input != sent || outcome.Requests != len(m.sizes) {
				t.Errorf("%d tokens on record, %d in the outcome, %d sent; %d requests of %d", input, outcome.Usage.Input, sent, outcome.Requests, len(m.sizes))
			}
		})
	}
}

// TestOldResultsFirst: what was read long ago is shortened and says how to get
// it again; the newest is whole.
func TestOldResultsFirst(t *testing.T) {
	m := &narrow{looks: 8}
	command := look(3000)
	command.name, command.effect = "run", tools.Execute
	outputs := 0
	a, memory := newAgent(t, m, registry(t, look(3000), command), func(o *agent.Options) {
		o.ContextWindow, o.Outputs = 8000, "/jar/outputs"
		o.NewOutput = func() agent.Output { outputs++; return namedOutput(outputs) }
	})
	if outcome, err := a.Run(t.Context(), "go"); err != nil || outcome.Stop != agent.StopFinished {
		t.Fatalf("ended as %s, error %v", outcome.Stop, err)
	}
	compacted := notices(memory, trajectory.NoticeCompacted)
	if len(compacted) != 1 || strings.Contains(compacted[0], "summary") || !strings.Contains(compacted[0], "old results shortened; about 6") {
		t.Fatalf("compactions %q", compacted)
	}
	last := m.requests[len(m.requests)-1].Messages
	var short, whole []string
	for _, msg := range last {
		if msg.Role != model.Tool {
			continue
		}
		if text := msg.Parts[0].Text; strings.Contains(text, "left out here") {
			short = append(short, text)
		} else {
			whole = append(whole, text)
		}
	}
	if len(short) < 3 || len(whole) < 1 || whole[len(whole)-1] != page(json.RawMessage(`{"n":800}`), 3000) {
		t.Errorf("%d shortened, %d whole", len(short), len(whole))
	}
	for i, text := range short {
		args := fmt.Sprintf(`{"n":%d}`, 100*(i+1))
		if !strings.HasPrefix(text, "begin "+args) || !strings.HasSuffix(text, "end "+args) || len(text) > 1200 {
			t.Errorf("shortened to %q", text)
		}
		want := "Make the call again"
		if i%2 == 0 {
			want = fmt.Sprintf("What was kept of the output is in /jar/outputs/%d.txt.", i+1)
		}
		if !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
	m.checkPrefixes(t, 1)
}

// checkPrefixes checks that all but so many requests begin like the one before.
func (m *narrow) checkPrefixes(t *testing.T, most int) {
	t.Helper()
	changed := 0
	for i := 1; i < len(m.requests); i++ {
		before, after := m.requests[i-1].Messages, m.requests[i].Messages
		if len(before) > len(after) || !reflect.DeepEqual(before, after[:len(before)]) {
			changed++
		}
	}
	if changed > most {
		t.Errorf("the beginning changed %d times, want at most %d", changed, most)
	}
}

// A namedOutput keeps nothing; every second one has a name.
type namedOutput int

func (namedOutput) Write(p []byte) (int, error) { return len(p), nil }
func (namedOutput) Close() error                { return nil }
func (o namedOutput) Name() string {
	if o%2 == 0 {
		return ""
	}
	return fmt.Sprintf("outputs/%d.txt", int(o))
}

// TestTooLong: what cannot be made to fit ends the run, soon and with a reason.
func TestTooLong(t *testing.T) {
	for name, test := range map[string]struct {
		window, limit, looks, beside, size, system, task int
		requests                                         int // at most
		says                                             string
	}{
		"refuses everything": {limit: 1, requests: 1, says: "too long: 24; the prompt, the tools and the task alone (about 0, 23 and 1 tokens)"},
		"prompt and tools": {
			window: 2000, system: 10_000, requests: 0,
			says: "the prompt, the tools and the task alone (about 2500, 23 and 1 tokens) are too long for the model, which takes about 2000; use",
		},
		"task": {
			window: 8000, task: 50_000, requests: 0,
			says: "the prompt, the tools and the task alone (about 0, 23 and 12500 tokens) are too long",
		},
		"everything from a point": {limit: 700, system: 2600, looks: 5, size: 3000, requests: 6, says: "too long: 7"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &narrow{limit: test.limit, looks: test.looks, beside: test.beside}
			a, memory := newAgent(t, m, registry(t, look(test.size)), func(o *agent.Options) {
				o.ContextWindow, o.System = test.window, strings.Repeat("x", test.system)
			})
			outcome, err := a.Run(t.Context(), "go"+strings.Repeat("x", max(test.task-2, 0)))
			if outcome.Stop != agent.StopMaxContext || err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("ended as %s, error %v", outcome.Stop, err)
			}
			if len(m.requests) > test.requests {
				t.Errorf("%d requests, want at most %d", len(m.requests), test.requests)
			}
			if told := notices(memory, trajectory.NoticeError); len(told) != 1 || told[0] != err.Error() {
				t.Errorf("on record is %q", told)
			}
		})
	}
}

// TestRefusedAsTooLong: what a real client makes of a server's refusal is
// recognised, and the run goes on.
func TestRefusedAsTooLong(t *testing.T) {
	refuse := func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 4096 tokens."}}`, http.StatusBadRequest)
	}
	calls, text := streaming(serverCalls, "[DONE]"), streaming(serverText, "[DONE]")
	s := newServer(t, calls, calls, calls, refuse, text)
	memory := &trajectory.Memory{}
	a := serverAgent(t, s, memory, func(o *agent.Options) {
		o.Tools = registry(t, look(3000), echo("write", tools.Write))
	})
	outcome, err := a.Run(t.Context(), "go")
	if err != nil || outcome.Stop != agent.StopFinished || outcome.Final != "Grüße!" {
		t.Fatalf("ended as %s, error %v", outcome.Stop, err)
	}
	compacted := notices(memory, trajectory.NoticeCompacted)
	if len(compacted) != 1 || !strings.Contains(compacted[0], "said that the conversation is too long: 2 old results shortened, 6 messages replaced by a summary") {
		t.Errorf("compactions %q", compacted)
	}
	if refused, after := s.bodies[3], s.bodies[len(s.bodies)-1]; len(after) > len(refused)*2/3 || !strings.Contains(after, `is no new order.]\n\n> Grüße!`) {
		t.Errorf("%d bytes were refused, %d sent then", len(refused), len(after))
	}
}
