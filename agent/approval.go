package agent

import (
	"context"
	"encoding/json"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

// An Assessor is Tools that can tell of a call, before it runs, what is out of
// the ordinary about it; a *tools.Registry is one. Of other Tools nothing is known.
type Assessor interface {
	// Assess looks at a call and runs nothing. runs tells whether the call would
	// run at all; one that would not needs nobody's approval.
	Assess(ctx context.Context, name string, args json.RawMessage) (risk tools.Risk, runs bool)
}

// An ApprovalRequest is a call that is about to run.
type ApprovalRequest struct {
	Call   model.ToolCall
	Effect tools.Effect
	Risk   tools.Risk
	// Agent is the task of the sub-agent that makes the call; "" where the run's
	// own agent does.
	Agent string
}

// An Approval is what was decided about a call. The zero value lets it run with
// nothing to tell.
type Approval struct {
	Decision Decision
	// By says who decided; see trajectory.Approval.
	By string
	// Reason says why the call was denied, to the model as well.
	Reason string
}

// A Decision is about one call.
type Decision string

// The decisions. Denied calls are not run.
const (
	Allowed       Decision = "allowed"
	AllowedAlways Decision = "allowed_always" // and more calls of its kind
	Denied        Decision = "denied"
)

// statusDenied is that of the result of a call that was denied.
const statusDenied = "denied"

// deniedText begins what the model is told of a call that was denied.
const deniedText = "not run: "

// approve decides about calls in their order, and gives for each that was denied
// its result. When the run ends meanwhile nothing more is decided.
func (r *run) approve(ctx context.Context, calls []model.ToolCall) ([]*done, error) {
	denied := make([]*done, len(calls))
	if r.opts.Approve == nil {
		return denied, nil
	}
	for i, call := range calls {
		if ctx.Err() != nil {
			break // and the calls get a result that says so
		}
		d, err := r.approveOne(ctx, call)
		if err != nil {
			return nil, err
		}
		denied[i] = d
	}
	return denied, nil
}

// pause lets the time of the run stand still, and that of the run that waits for
// it.
func (r *run) pause() {
	for ; r != nil; r = r.parent {
		r.clock.pause()
	}
}

// resume lets it go on.
func (r *run) resume() {
	for ; r != nil; r = r.parent {
		r.clock.resume()
	}
}

// approveOne decides about one call.
func (r *run) approveOne(ctx context.Context, call model.ToolCall) (*done, error) {
	effect, known := r.effects[call.Name]
	if !known {
		return nil, nil // the answer is that there is no such tool
	}
	request := ApprovalRequest{Call: call, Effect: effect}
	if assessor, ok := r.opts.Tools.(Assessor); ok {
		risk, runs := assessor.Assess(ctx, call.Name, json.RawMessage(call.Arguments))
		if !runs {
			return nil, nil
		}
		request.Risk = risk
	}
	// Who is asked may take their time: the run's does not go on meanwhile.
	r.pause()
	a := r.opts.Approve(ctx, request)
	r.resume()
	if a.Decision == "" || ctx.Err() != nil {
		return nil, nil
	}
	a.Reason = cleanText(a.Reason)
	if err := r.record(trajectory.Approval{
		CallID: call.ID, Decision: string(a.Decision), Reason: a.Reason, By: a.By, Risk: cleanText(request.Risk.Text),
	}); err != nil {
		return nil, err
	}
	if a.Decision != Denied {
		return nil, nil
	}
	return &done{result: tools.Error(deniedText + a.Reason), status: statusDenied, answered: a.By == trajectory.ByUser}, nil
}
