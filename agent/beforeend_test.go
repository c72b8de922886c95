package agent_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/trajectory"
)

// TestBeforeEnd records something when the work is over, and fails then.
func TestBeforeEnd(t *testing.T) {
	late := errors.New("the look failed")
	var memory *trajectory.Memory
	a, recorded := newAgent(t, answers(says("Done.")), registry(t), func(o *agent.Options) {
		o.BeforeEnd = func() error {
			return errors.Join(late, memory.Record(trajectory.Notice{Kind: trajectory.NoticeHostRisk, Text: "x"}))
		}
	})
	memory = recorded
	outcome, err := a.Run(t.Context(), "go")
	if outcome.Stop != agent.StopFinished || !errors.Is(err, late) {
		t.Errorf("stop %s, error %v; want the run finished and what failed after it", outcome.Stop, err)
	}
	want := []string{"start go", "user: go", "assistant: Done.", "usage 10 5", "notice host_risk", "end finished 1 Done."}
	if diff := cmp.Diff(want, story(memory)); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}
