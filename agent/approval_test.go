package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
	"github.com/google/go-cmp/cmp"
)

// risky is a tool that tells a risk of every call.
type risky struct{ tool }

func (risky) Assess(context.Context, json.RawMessage) tools.Risk {
	return tools.Risk{Text: "it\x1b[2J removes", Slip: true}
}

// decided answers requests in turn and keeps them.
func decided(asked *[]agent.ApprovalRequest, answers ...agent.Approval) func(context.Context, agent.ApprovalRequest) agent.Approval {
	return func(_ context.Context, request agent.ApprovalRequest) agent.Approval {
		*asked = append(*asked, request)
		return answers[len(*asked)-1]
	}
}

// Calls are decided about in their order before they run; a denied one is not
// run, and the model is told why.
func TestApproval(t *testing.T) {
	ran := 0
	runs := func(name string, effect tools.Effect) tool {
		return tool{name, effect, func(context.Context, json.RawMessage) (tools.Result, error) {
			ran++
			return tools.Text("ran"), nil
		}}
	}
	set := registry(t, runs("write", tools.Write), risky{runs("run", tools.Execute)})
	var asked []agent.ApprovalRequest
	m := answers(asks(call("write", "{}"), call("run", `{"n":1}`), call("unknown", "{}"), call("write", "{"), call("write", "{}"), call("run", "{}")), says("Done."))
	a, memory := newAgent(t, m, set, func(o *agent.Options) {
		o.Approve = decided(&asked,
			agent.Approval{},
			agent.Approval{Decision: agent.Denied, By: "user", Reason: "use\x1b[1m make"},
			agent.Approval{Decision: agent.Allowed, By: "user"},
			agent.Approval{Decision: agent.AllowedAlways, By: "user"})
	})
	if outcome, err := a.Run(t.Context(), "go"); err != nil || outcome.Stop != agent.StopFinished {
		t.Fatalf("outcome %+v and error %v", outcome, err)
	}
	var got []string
	for _, line := range without(story(memory), "start", "user", "assistant", "usage", "end", "call") {
		first, _, _ := strings.Cut(line, "\n")
		got = append(got, first[:min(len(first), 60)])
	}
	want := []string{
		"result call00001 ok ran",
		"approval call00002 denied use make",
		"result call00002 denied not run: use make",
		`result call00003 error there is no tool "unknown"; the tools`,
		"result call00004 error the arguments of write could not be r",
		"approval call00005 allowed ",
		"result call00005 ok ran",
		"approval call00006 allowed_always ",
		"result call00006 ok ran",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the record (-want +got):\n%s", diff)
	}
	if ran != 3 {
		t.Errorf("%d calls ran, want 3", ran)
	}
	if len(asked) != 4 || asked[0].Effect != tools.Write || asked[0].Risk != (tools.Risk{}) || asked[1].Effect != tools.Execute || !asked[1].Risk.Slip || asked[1].Call.Arguments != `{"n":1}` {
		t.Errorf("asked: %+v", asked)
	}
	for _, body := range memory.Bodies() {
		if event, ok := body.(trajectory.Approval); ok && event.CallID == "call00002" && (event.Risk != "it removes" || event.By != "user") {
			t.Errorf("recorded: %+v", event)
		}
	}
	sent := m.requests[1].Messages
	if got := sent[3]; !got.IsError || got.Parts[0].Text != "not run: use make" {
		t.Errorf("sent to the model: %+v", got)
	}
	checkPairs(t, memory)
}

// Reads that nobody is asked about run side by side, and those that are decided
// about do so once all are.
func TestApprovedReadsRunSideBySide(t *testing.T) {
	for name, approval := range map[string]agent.Approval{"nobody asked": {}, "allowed": {Decision: agent.Allowed, By: "user"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var running, most atomic.Int32
				set := registry(t, tool{"read", tools.Read, func(context.Context, json.RawMessage) (tools.Result, error) {
					most.Store(max(most.Load(), running.Add(1)))
					time.Sleep(time.Second)
					running.Add(-1)
					return tools.Text("read"), nil
				}})
				var asked []agent.ApprovalRequest
				a, memory := newAgent(t, answers(asks(call("read", "{}"), call("read", "{}"), call("read", "{}")), says("Done.")), set, func(o *agent.Options) {
					o.Approve = decided(&asked, approval, agent.Approval{Decision: agent.Denied, Reason: "no"}, approval)
				})
				if _, err := a.Run(t.Context(), "go"); err != nil {
					t.Fatal(err)
				}
				if most.Load() != 2 {
					t.Errorf("%d ran at once, want 2", most.Load())
				}
				order := without(story(memory), "start", "user", "assistant", "usage", "call", "approval", "end")
				want := []string{"result call00001 ok read", "result call00002 denied not run: no", "result call00003 ok read"}
				if diff := cmp.Diff(want, order); diff != "" {
					t.Errorf("results (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// The time of a run stands still while somebody is asked, and goes on after.
func TestApprovalTakesNoTime(t *testing.T) {
	for name, test := range map[string]struct {
		work time.Duration // of each call
		stop agent.Stop
	}{
		"enough":     {20 * time.Second, agent.StopFinished},
		"not enough": {40 * time.Second, agent.StopMaxTime},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set := registry(t, tool{"run", tools.Execute, func(ctx context.Context, _ json.RawMessage) (tools.Result, error) {
					select {
					case <-time.After(test.work):
						return tools.Text("ran"), nil
					case <-ctx.Done():
						return tools.Result{}, ctx.Err()
					}
				}})
				a, memory := newAgent(t, answers(asks(call("run", "{}"), call("run", "{}")), says("Done.")), set, func(o *agent.Options) {
					o.MaxTime = time.Minute
					o.Approve = func(ctx context.Context, _ agent.ApprovalRequest) agent.Approval {
						select {
						case <-time.After(time.Hour):
						case <-ctx.Done():
							t.Error("the time ended at a question")
						}
						if end, ok := ctx.Deadline(); !ok || time.Until(end) <= 0 {
							t.Errorf("the deadline is %v", end)
						}
						return agent.Approval{Decision: agent.Allowed, By: "user"}
					}
				})
				outcome, err := a.Run(t.Context(), "go")
				if err != nil || outcome.Stop != test.stop {
					t.Errorf("outcome %+v and error %v", outcome, err)
				}
				checkPairs(t, memory)
			})
		})
	}
}

// A run that is interrupted at a question ends, and its calls have results.
func TestInterruptedAtQuestion(t *testing.T) {
	interrupted := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	set := registry(t, echo("read", tools.Read), tool{"run", tools.Execute, func(context.Context, json.RawMessage) (tools.Result, error) {
		t.Error("a call ran")
		return tools.Text(""), nil
	}})
	a, memory := newAgent(t, answers(asks(call("run", "{}"), call("read", "{}")), says("Done.")), set, func(o *agent.Options) {
		o.MaxTime = time.Hour
		o.Approve = func(ctx context.Context, _ agent.ApprovalRequest) agent.Approval {
			cancel(interrupted)
			<-ctx.Done()
			return agent.Approval{Decision: agent.Denied, Reason: "gone"}
		}
	})
	outcome, err := a.Run(ctx, "go")
	if outcome.Stop != agent.StopCanceled || !errors.Is(err, interrupted) {
		t.Errorf("outcome %+v and error %v", outcome, err)
	}
	checkPairs(t, memory)
	if lines := story(memory); slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "approval") }) {
		t.Errorf("the record has a decision that nobody made:\n%s", strings.Join(lines, "\n"))
	}
}

// A decision that cannot be put on record ends the run before the call.
func TestApprovalIsOnRecordFirst(t *testing.T) {
	full := errors.New("disk full")
	memory := &trajectory.Memory{}
	a, err := agent.New(agent.Options{
		Model: answers(asks(call("run", "{}"))),
		Tools: registry(t, tool{"run", tools.Execute, func(context.Context, json.RawMessage) (tools.Result, error) {
			t.Error("the call ran")
			return tools.Text(""), nil
		}}),
		Recorder: failsAt{memory, full},
		Approve: func(context.Context, agent.ApprovalRequest) agent.Approval {
			return agent.Approval{Decision: agent.Allowed, By: "user"}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if outcome, err := a.Run(t.Context(), "go"); outcome.Stop != agent.StopRecord || !errors.Is(err, full) {
		t.Errorf("outcome %+v and error %v", outcome, err)
	}
}

// failsAt fails to record approvals.
type failsAt struct {
	*trajectory.Memory
	err error
}

func (f failsAt) Record(body trajectory.Body) error {
	if _, ok := body.(trajectory.Approval); ok {
		return f.err
	}
	return f.Memory.Record(body)
}

// A model whose calls are denied again and again is told, and then stopped; but
// for what a person says to other calls each time.
func TestDeniedAgainAndAgain(t *testing.T) {
	for name, test := range map[string]struct {
		by   string
		same bool // the calls and the reasons
		stop agent.Stop
	}{
		"nobody to be asked":           {"nobody", true, agent.StopStuck},
		"nobody about other calls":     {"nobody", false, agent.StopStuck},
		"the guard about other calls":  {"guard", false, agent.StopStuck},
		"a person about the same call": {"user", true, agent.StopStuck},
		"a person about other calls":   {"user", false, agent.StopFinished},
	} {
		t.Run(name, func(t *testing.T) {
			var steps []model.Response
			for i := range 20 {
				if test.same {
					i = 0
				}
				steps = append(steps, asks(call("run", fmt.Sprintf(`{"n":%d}`, i))))
			}
			steps = append(steps, says("Done."))
			a, _ := newAgent(t, answers(steps...), registry(t, echo("run", tools.Execute)), func(o *agent.Options) {
				n := 0
				o.Approve = func(context.Context, agent.ApprovalRequest) agent.Approval {
					if n++; test.same {
						n = 0
					}
					return agent.Approval{Decision: agent.Denied, By: test.by, Reason: fmt.Sprintf("not this, %d", n)}
				}
			})
			if outcome, err := a.Run(t.Context(), "go"); err != nil || outcome.Stop != test.stop {
				t.Errorf("outcome %+v and error %v", outcome, err)
			}
		})
	}
}
