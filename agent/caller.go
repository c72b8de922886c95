package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
)

// A Caller runs single calls as a run does, without a model and without a
// record. Safe for concurrent use if its parts are.
type Caller struct{ agent Agent }

// MaxParallel is how many calls run side by side at most.
const MaxParallel = maxParallel

// NewCaller returns a Caller. Of the options Tools, which is required,
// NewOutput, Images and Mask are used.
func NewCaller(opts Options) (*Caller, error) {
	if opts.Tools == nil {
		return nil, errors.New("making a caller: Tools are required")
	}
	return &Caller{Agent{opts: opts}}, nil
}

// Call runs one call and returns its result as it would go on record; secrets
// are not hidden in it. An error means that a tool cannot work any more, or
// that the context is done, with its cause.
func (c *Caller) Call(ctx context.Context, call trajectory.ToolCall) (trajectory.ToolResult, error) {
	asked := model.ToolCall{ID: call.CallID, Name: call.Name, Arguments: call.Arguments}
	d := c.agent.execute(ctx, asked)
	event, _ := c.agent.result(asked, d)
	if ctx.Err() != nil {
		return event, context.Cause(ctx)
	}
	if d.err != nil {
		return event, fmt.Errorf("running a call of %s: %w", call.Name, d.err)
	}
	return event, nil
}
