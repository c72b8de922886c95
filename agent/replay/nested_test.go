package replay_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/replay"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

// workWithSubAgent runs an agent, which can start others, into a session of its
// own. It fails where a recorded answer does not fit.
func workWithSubAgent(t *testing.T, m model.Model) *trajectory.Session {
	t.Helper()
	own := func() *tools.Registry {
		set := new(tools.Registry)
		if err := set.Register(echo{"w"}); err != nil {
			t.Fatal(err)
		}
		return set
	}
	set := own()
	subAgents, err := agent.NewSubAgents(agent.SubOptions{
		MaxTurns: 10, New: func() (agent.SubAgent, error) { return agent.SubAgent{Tools: own()}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Register(subAgents); err != nil {
		t.Fatal(err)
	}
	session, err := trajectory.Create(t.TempDir(), trajectory.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	if recorded, ok := m.(*replay.Model); ok {
		recorded.Watch(func(s string) string { return s }, func(text string) error {
			t.Errorf("the run differs: %s", text)
			return nil
		})
	}
	worker, err := agent.New(agent.Options{Model: m, Tools: set, Recorder: session.Writer(), Price: &model.Price{}})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := worker.Run(t.Context(), "go"); err != nil || out.Final != "All done." {
		t.Errorf("ended with %q, %v", out.Final, err)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	return session
}

// TestSubAgent: the answers to a sub-agent come in their order, and the calls of
// one are run again in the place of the call that had it.
func TestSubAgent(t *testing.T) {
	delegate := model.Response{Finish: model.FinishToolCalls, Calls: []model.ToolCall{{Name: "agent", Arguments: `{"task":"look"}`}}}
	then := workWithSubAgent(t, &list{[]model.Response{
		asks("", `{"a":1}`), delegate, asks("", `{"a":2}`), asks("", `{"a":3}`), says("Found."), asks("", `{"a":4}`), says("All done."),
	}})
	m, err := replay.NewModel("ID", reader(t, then))
	if err != nil {
		t.Fatal(err)
	}
	workWithSubAgent(t, m)

	c := &caller{}
	var asked []string
	calls, sum := run(t, then, replay.Options{Caller: c, Lacks: func(_, name string) bool { return name == "agent" }})
	for _, call := range calls {
		asked = append(asked, call.Name+call.Arguments+call.Why)
	}
	want := []string{`echo{"a":1}`, `echo{"a":2}`, `echo{"a":3}`, `agent{"task":"look"}` + replay.WhyNoTool, `echo{"a":4}`}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	var parents []string
	for _, call := range calls {
		parents = append(parents, call.Parent)
	}
	parent := calls[3].CallID // each call is its agent's
	if diff := cmp.Diff([]string{"", parent, parent, "", ""}, parents); diff != "" {
		t.Errorf("parents (-want +got):\n%s", diff)
	}
	if len(c.ran) != 4 || !strings.HasPrefix(c.ran[1], parent+"/") || !sum.Ended {
		t.Errorf("ran %q, %+v", c.ran, sum)
	}
}
