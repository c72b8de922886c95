package agent_test

import (
	"testing"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/trajectory"
)

// TestFindWindow: it is asked for after each answer until it is found, and the
// conversation is kept within it from then on, whatever it was taken for before.
func TestFindWindow(t *testing.T) {
	for name, test := range map[string]struct {
		window, found, after int // what is found after so many calls
		calls                int
		limit                int // what the model takes
		compacted            bool
	}{
		"found at once":       {found: 8000, calls: 1, limit: 8000, compacted: true},
		"found later":         {found: 8000, after: 2, calls: 3, limit: 8000, compacted: true},
		"never found":         {calls: 61},
		"found to be less":    {window: 1_000_000, found: 8000, after: 1, calls: 2, limit: 8000, compacted: true},
		"found to be more":    {window: 8000, found: 1_000_000, calls: 1},
		"known and not found": {window: 8000, calls: -1, limit: 8000, compacted: true},
		"found to be big":     {found: 1_000_000, calls: 1},
	} {
		t.Run(name, func(t *testing.T) {
			m, calls := &narrow{limit: test.limit, looks: 60}, 0
			a, memory := newAgent(t, m, registry(t, look(4000)), func(o *agent.Options) {
				o.MaxTurns, o.ContextWindow = 100, test.window
				o.FindWindow = func() int {
					if calls++; calls <= test.after {
						return 0
					}
					return test.found
				}
			})
			outcome, err := a.Run(t.Context(), "go")
			if err != nil || outcome.Stop != agent.StopFinished || m.refused > 0 {
				t.Errorf("outcome %+v, error %v, %d refused", outcome, err, m.refused)
			}
			if test.calls >= 0 && calls != test.calls {
				t.Errorf("it was asked for %d times, want %d", calls, test.calls)
			}
			if got := len(notices(memory, trajectory.NoticeCompacted)) > 0; got != test.compacted {
				t.Errorf("compacted: %t, want %t", got, test.compacted)
			}
		})
	}
}
