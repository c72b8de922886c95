package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
	"github.com/google/go-cmp/cmp"
)

// TestOrder: reads run side by side, everything else alone, results come in
// the order of the calls. Every call takes a second of a clock of its own, so
// who ran beside whom can be told exactly.
func TestOrder(t *testing.T) {
	tests := map[string]struct {
		calls string // r, w, x and ? (unknown), one letter a call
		want  string // the second in which each call began
	}{
		"reads":                 {"rrr", "000"},
		"write holds":           {"rrwrr", "00122"},
		"executes in turn":      {"xx", "01"},
		"unknown is a wall":     {"r?r", "0 1"},
		"more than fit at once": {"rrrrrrrrrr", "0000000011"},
		"reads at both ends":    {"rxwr", "0123"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var mu sync.Mutex
				began := map[string]string{}
				slow := func(name string, effect tools.Effect) tool {
					return tool{name, effect, func(_ context.Context, args json.RawMessage) (tools.Result, error) {
						var in struct{ N int }
						if err := json.Unmarshal(args, &in); err != nil {
							return tools.Result{}, err
						}
						mu.Lock()
						began[fmt.Sprint(in.N)] = fmt.Sprint(int(time.Since(start).Seconds()))
						mu.Unlock()
						// Later calls end earlier, so that order is not luck.
						time.Sleep(time.Second - time.Duration(in.N)*time.Millisecond)
						return tools.Text(string(args)), nil
					}}
				}
				var all []model.ToolCall
				for i, letter := range test.calls {
					name := map[rune]string{'r': "read", 'w': "write", 'x': "run", '?': "unknown"}[letter]
					all = append(all, call(name, fmt.Sprintf(`{"n":%d}`, i)))
				}
				set := registry(t, slow("read", tools.Read), slow("write", tools.Write), slow("run", tools.Execute))
				a, memory := newAgent(t, answers(asks(all...), says("Done.")), set)
				if _, err := a.Run(t.Context(), "go"); err != nil {
					t.Fatal(err)
				}
				got := ""
				for i := range test.calls {
					second, ran := began[fmt.Sprint(i)]
					if !ran {
						second = " "
					}
					got += second
				}
				// The milliseconds by which calls end early do not add up to
				// a second, but may put a later call into the second before.
				if diff := roughly(test.want, got); diff != "" {
					t.Error(diff)
				}
				var results []string
				for _, line := range without(story(memory), "start", "user", "assistant", "usage", "call", "end") {
					results = append(results, strings.Fields(line)[1])
				}
				for i, id := range results {
					if want := fmt.Sprintf("call%05d", i+1); id != want {
						t.Errorf("result %d is of %s, want %s", i, id, want)
					}
				}
				if len(results) != len(all) {
					t.Errorf("%d results of %d calls", len(results), len(all))
				}
			})
		})
	}
}

// roughly compares starts, where a call that waited for others began up to
// some milliseconds before the full second.
func roughly(want, got string) string {
	if len(want) != len(got) {
		return fmt.Sprintf("began in seconds %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] && !(want[i] > '0' && got[i] == want[i]-1) {
			return fmt.Sprintf("began in seconds %q, want %q", got, want)
		}
	}
	return ""
}

func TestToolErrorsGoBack(t *testing.T) {
	code := 3
	set := registry(t,
		tool{"fail", tools.Write, func(context.Context, json.RawMessage) (tools.Result, error) { return tools.Error("no such file"), nil }},
		tool{"run", tools.Execute, func(context.Context, json.RawMessage) (tools.Result, error) {
			return tools.Result{Parts: []tools.Part{{Text: "a\x00b\x1b"}, {MediaType: "image/png", Data: []byte{1}}}, Status: "exited", ExitCode: &code}, nil
		}},
	)
	m := answers(asks(call("fail", "{}"), call("run", "{}"), call("run", `{"a":`), call("nothing", "{}")), says("Done."))
	a, memory := newAgent(t, m, set, func(o *agent.Options) { o.Images = true })
	if outcome, err := a.Run(t.Context(), "go"); err != nil || outcome.Stop != agent.StopFinished {
		t.Fatalf("outcome %+v and error %v", outcome, err)
	}
	var results []trajectory.ToolResult
	for _, body := range memory.Bodies() {
		if r, ok := body.(trajectory.ToolResult); ok {
			r.DurationMS = 0
			results = append(results, r)
		}
	}
	if len(results) != 4 {
		t.Fatalf("%d results", len(results))
	}
	want := []trajectory.ToolResult{
		{CallID: "call00001", Name: "fail", Status: "error", IsError: true, Content: []trajectory.Part{{Type: "text", Text: "no such file"}}},
		{CallID: "call00002", Name: "run", Status: "exited", ExitCode: &code, Content: []trajectory.Part{
			{Type: "text", Text: "ab"}, {Type: "image", MediaType: "image/png", Data: []byte{1}}}},
	}
	if diff := cmp.Diff(want, results[:2]); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	for _, r := range results[2:] {
		if !r.IsError || r.Status != "error" || len(r.Content) != 1 {
			t.Errorf("a call that could not be run has the result %+v", r)
		}
	}
	sent := m.requests[1].Messages
	wantSent := model.Message{Role: model.Tool, CallID: "call00002", Parts: []model.Part{{Text: "ab"}, {MediaType: "image/png", Data: []byte{1}}}}
	if diff := cmp.Diff(wantSent, sent[3]); diff != "" {
		t.Errorf("sent to the model (-want +got):\n%s", diff)
	}
}

// A model that takes no images is told that there was one, and neither it nor
// the record gets it.
func TestImagesAreLeftOut(t *testing.T) {
	set := registry(t, tool{"look", tools.Read, func(context.Context, json.RawMessage) (tools.Result, error) {
		return tools.Result{Parts: []tools.Part{{Text: "a picture"}, {MediaType: "image/png", Data: []byte{1, 2}}}}, nil
	}})
	m := answers(asks(call("look", "{}")), says("Done."))
	a, memory := newAgent(t, m, set)
	if _, err := a.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	want := []model.Part{{Text: "a picture"}, {Text: "(the image itself, image/png of 2 bytes, is left out: you are taken for a model that sees none)"}}
	if diff := cmp.Diff(want, m.requests[1].Messages[2].Parts); diff != "" {
		t.Errorf("sent to the model (-want +got):\n%s", diff)
	}
	for _, body := range memory.Bodies() {
		r, ok := body.(trajectory.ToolResult)
		if ok && slices.ContainsFunc(r.Content, func(p trajectory.Part) bool { return p.Type != "text" || p.Data != nil }) {
			t.Errorf("recorded: %+v", r.Content)
		}
	}
}

// Equal calls with different pictures are not a model that is stuck.
func TestPicturesThatChangeAreNoRepeats(t *testing.T) {
	n := byte(0)
	set := registry(t, tool{"look", tools.Write, func(context.Context, json.RawMessage) (tools.Result, error) {
		n++
		return tools.Result{Parts: []tools.Part{{MediaType: "image/png", Data: []byte{n}}}}, nil
	}})
	steps := []model.Response{}
	for range 8 {
		steps = append(steps, asks(call("look", "{}")))
	}
	a, _ := newAgent(t, answers(append(steps, says("Done."))...), set, func(o *agent.Options) { o.Images = true })
	if outcome, err := a.Run(t.Context(), "go"); err != nil || outcome.Stop != agent.StopFinished {
		t.Errorf("outcome %+v and error %v", outcome, err)
	}
}

func TestSandboxErrorEndsTheRun(t *testing.T) {
	lost := errors.New("sandbox is lost")
	for name, calls := range map[string][]model.ToolCall{
		"first":        {call("break", "{}"), call("look", "{}")},
		"in the midst": {call("look", "{}"), call("break", "{}"), call("look", `{"n":1}`), call("break", "{}")},
		"beside reads": {call("look", "{}"), call("breakread", "{}"), call("look", "{}"), call("break", "{}")},
	} {
		t.Run(name, func(t *testing.T) {
			broken := 0
			breaks := func(name string, effect tools.Effect) tool {
				return tool{name, effect, func(context.Context, json.RawMessage) (tools.Result, error) {
					broken++
					return tools.Result{}, lost
				}}
			}
			m := answers(asks(calls...), says("Done."))
			a, memory := newAgent(t, m, registry(t, echo("look", tools.Read), breaks("break", tools.Execute), breaks("breakread", tools.Read)))
			outcome, err := a.Run(t.Context(), "go")
			if outcome.Stop != agent.StopSandbox || !errors.Is(err, lost) {
				t.Errorf("outcome %+v and error %v", outcome, err)
			}
			if broken != 1 || len(m.requests) != 1 {
				t.Errorf("%d calls broke and %d requests were sent, want one of each", broken, len(m.requests))
			}
			checkPairs(t, memory)
			got := 0
			for _, body := range memory.Bodies() {
				if _, ok := body.(trajectory.ToolResult); ok {
					got++
				}
			}
			if got != len(calls) {
				t.Errorf("%d results of %d calls", got, len(calls))
			}
		})
	}
}

// A chatty tool writes raw output.
type chatty struct{ tool }

func (c chatty) ExecuteTo(_ context.Context, _ json.RawMessage, out io.Writer) (tools.Result, error) {
	if _, err := io.WriteString(out, "raw output"); err != nil {
		return tools.Result{}, err
	}
	return tools.Text("short"), nil
}

// A kept output is one in memory. Its name is there once it has content.
type kept struct {
	data               bytes.Buffer
	closed             int
	writeErr, closeErr error
}

func (k *kept) Write(p []byte) (int, error) {
	if k.writeErr != nil {
		return 0, k.writeErr
	}
	return k.data.Write(p)
}

func (k *kept) Name() string {
	if k.data.Len() == 0 {
		return ""
	}
	return "outputs/some.txt"
}

func (k *kept) Close() error { k.closed++; return k.closeErr }

func TestOutputs(t *testing.T) {
	full := errors.New("disk full")
	tests := map[string]struct {
		writeErr, closeErr error
		stop               agent.Stop
		outputs            []string // as on record
	}{
		"kept":        {stop: agent.StopFinished, outputs: []string{"", "outputs/some.txt", "outputs/some.txt"}},
		"write fails": {writeErr: full, stop: agent.StopSandbox, outputs: []string{"", "", ""}},
		"close fails": {closeErr: full, stop: agent.StopSandbox, outputs: []string{"", "", ""}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var all []*kept
			set := registry(t, echo("look", tools.Read), chatty{echo("run", tools.Execute)})
			a, memory := newAgent(t, answers(asks(call("look", "{}"), call("run", "{}"), call("run", "{}")), says("Done.")), set, func(o *agent.Options) {
				o.NewOutput = func() agent.Output {
					all = append(all, &kept{writeErr: test.writeErr, closeErr: test.closeErr})
					return all[len(all)-1]
				}
			})
			outcome, err := a.Run(t.Context(), "go")
			if outcome.Stop != test.stop || (err != nil) != (test.stop != agent.StopFinished) || err != nil && !errors.Is(err, full) {
				t.Errorf("outcome %+v and error %v", outcome, err)
			}
			var outputs []string
			for _, body := range memory.Bodies() {
				if r, ok := body.(trajectory.ToolResult); ok {
					outputs = append(outputs, r.Output)
				}
			}
			if diff := cmp.Diff(test.outputs, outputs); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
			for i, k := range all {
				if k.closed != 1 {
					t.Errorf("output %d was closed %d times", i+1, k.closed)
				}
			}
			checkPairs(t, memory)
		})
	}
}
