package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

// What a tool says of its result that lasts is what counts for the same result,
// and a result that is an error is a failure, whatever its status.
func TestWhatCountsAsTheSame(t *testing.T) {
	for name, test := range map[string]struct {
		result func(n int) tools.Result
		stop   agent.Stop
		turns  int
	}{
		"a number that is new each time": {func(n int) tools.Result {
			return tools.Result{Parts: tools.Text(fmt.Sprint("started, pid ", n)).Parts, Lasting: "started, pid "}
		}, agent.StopStuck, 6},
		"the same number beside news": {func(n int) tools.Result {
			return tools.Result{Parts: tools.Text("pid 7").Parts, Lasting: fmt.Sprint(n, "%")}
		}, agent.StopMaxTurns, 30},
		"another status": {func(n int) tools.Result {
			return tools.Result{Parts: tools.Text("x").Parts, Lasting: "x", Status: fmt.Sprint(n)}
		}, agent.StopMaxTurns, 30},
		"timeouts with ever other output": {func(n int) tools.Result {
			return tools.Result{Parts: tools.Text(fmt.Sprint(n)).Parts, Status: "timeout", IsError: true}
		}, agent.StopStuck, 10},
		"commands that end with ever other output": {func(n int) tools.Result {
			return tools.Result{Parts: tools.Text(fmt.Sprint(n)).Parts, Status: "exited", ExitCode: new(1)}
		}, agent.StopMaxTurns, 30},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			set := registry(t, tool{"run", tools.Execute, func(context.Context, json.RawMessage) (tools.Result, error) {
				n++
				return test.result(n), nil
			}})
			a, memory := newAgent(t, answers(asks(call("run", "{}"))), set, func(o *agent.Options) { o.MaxTurns = 30 })
			outcome, err := a.Run(t.Context(), "go")
			if err != nil || outcome.Stop != test.stop || outcome.Turns != test.turns {
				t.Errorf("%s after %d turns, error %v; want %s after %d", outcome.Stop, outcome.Turns, err, test.stop, test.turns)
			}
			for _, body := range memory.Bodies() {
				if r, ok := body.(trajectory.ToolResult); ok && len(r.Content) != 1 {
					t.Errorf("the result on record is %+v", r)
				}
			}
		})
	}
}
