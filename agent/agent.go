// Package agent runs a language model on a task: it asks the model, runs the
// tools that the answer calls for, hands the results back, and goes on until
// the model is done or a limit is reached.
//
// A turn is one answer of the model and the tool calls it asks for. A run is
// one task, from the prompt to the reason it stopped. Every call gets exactly
// one result, in the order of the calls, and every event of a run is on record
// before the next step starts, so that a run can be killed at any moment.
//
// The loop knows tools by what they may do and never by name.
package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

// DefaultMaxTurns is the number of turns after which a run stops.
const DefaultMaxTurns = 50

// Tools are what the model may call; a *tools.Registry is one. It is used by
// several goroutines at once.
type Tools interface {
	// Definitions describes the tools, in a stable order.
	Definitions() []tools.Definition
	// ExecuteTo runs one call with the arguments as the model sent them. What
	// the model can put right, an unknown name included, is a Result; an error
	// ends the run. Raw output goes to out, unless it is nil.
	ExecuteTo(ctx context.Context, name string, args json.RawMessage, out io.Writer) (tools.Result, error)
}

// An Output keeps the raw output of one call.
type Output interface {
	io.Writer
	// Name is the path of the output below the session's folder, or "" when
	// nothing was written.
	Name() string
	Close() error
}

// Options say what an agent works with. Model, Tools and Recorder are
// required.
type Options struct {
	Model    model.Model
	Tools    Tools
	Recorder trajectory.Recorder
	// System is the system prompt; see SystemPrompt.
	System string
	// Start is the first event of the record; Task and Model are filled in.
	Start trajectory.Start
	// NewOutput makes the place for the raw output of one call; nil keeps none.
	NewOutput func() Output
	// OnText is given the pieces of an answer's text as they come, from one
	// goroutine at a time. They are not cleaned. nil is not.
	OnText func(string)
	// Opening is what else is to be told of a run that starts; it goes on record
	// after the task.
	Opening []trajectory.Notice
	// Closing gives what else is to be told of a run that stops, such as what
	// it leaves running; it goes on record before BeforeEnd is called. nil is
	// nothing.
	Closing func() []trajectory.Notice
	// Approve decides about a call before it runs, in the order of the calls and
	// one at a time; calls that run side by side do so once all of them are
	// decided. It is not asked about calls that could not run. MaxTime stands
	// still while it decides. When its context ends it returns, and what it
	// returns does not count. nil lets every call run.
	Approve func(ctx context.Context, request ApprovalRequest) Approval
	// BeforeEnd is called once when the work is over, before the end is on
	// record, for what has to be recorded then. Its error is the run's, beside
	// whatever else went wrong. nil is not called.
	BeforeEnd func() error
	// Images tells that the model takes images. Those of a result are handed
	// on and recorded then; otherwise a word stands for each.
	Images bool
	// ContextWindow is the number of tokens that the model can take, prompt and
	// answer together. Before a conversation outgrows it, old results are
	// shortened, and then the middle is replaced by a summary that the model
	// writes. 0 is unknown: then that happens when the server says that the
	// conversation is too long.
	ContextWindow int
	// FindWindow is called after each answer until it returns a number, which
	// stands in ContextWindow's place from then on, or until the server said the
	// number in a refusal: some servers say it only of a model that they have
	// loaded, or load it otherwise for the run. It does not wait. nil is not
	// called.
	FindWindow func() int
	// Mask hides secrets in a text that is about to be cut, as the recorder does
	// in what is whole; nil hides nothing.
	Mask func(string) string
	// Outputs is the folder in which the model finds the raw outputs that were
	// kept, by the last element of their names; "" is none.
	Outputs string
	// MaxTurns is the number of turns after which a run stops; 0 is
	// DefaultMaxTurns.
	MaxTurns int
	// MaxTime is the time after which a run stops, in the middle of whatever
	// it is doing, but for Approve; 0 is none.
	MaxTime time.Duration
	// MaxRequests is the number of requests to the model, those that fail and
	// are tried again or written otherwise included, after which none is sent;
	// 0 is none.
	MaxRequests int
	// MaxTokens is the number of tokens, sent and received together, after
	// which a run stops at the end of the turn, or before another try where the
	// model's server fails; 0 is none.
	MaxTokens int
	// MaxCost is the cost in US dollars after which a run stops as for
	// MaxTokens; 0 is none. It needs a Price.
	MaxCost float64
	// Price is what the model's server takes; nil is unknown.
	Price *model.Price
	// Retry says how a request that failed for a reason that may pass is tried
	// again. Each wait is put on record before Retry.Notify is called.
	Retry model.RetryPolicy
}

// A Stop is the reason why a run ended.
type Stop string

// The reasons to stop.
const (
	StopFinished    Stop = "finished"      // the model gave an answer without calls
	StopMaxTurns    Stop = "max_turns"     // Options.MaxTurns was reached
	StopMaxTime     Stop = "max_time"      // Options.MaxTime was reached, or would be by a wait
	StopMaxRequests Stop = "max_requests"  // Options.MaxRequests was reached
	StopMaxTokens   Stop = "max_tokens"    // Options.MaxTokens was reached
	StopMaxCost     Stop = "max_cost"      // Options.MaxCost was reached
	StopMaxContext  Stop = "max_context"   // the conversation cannot be made to fit what the model can take
	StopStuck       Stop = "stuck"         // the model does the same, fails or is cut again and again
	StopRefused     Stop = "refused"       // the model refused, or its answer was filtered
	StopModel       Stop = "model_error"   // the model could not be reached or answered wrongly
	StopCanceled    Stop = "canceled"      // the caller's context was done
	StopSandbox     Stop = "sandbox_error" // a tool could not work any more
	StopRecord      Stop = "record_error"  // the record could not be written
)

// An Outcome is how a run ended.
type Outcome struct {
	Stop Stop
	// Final is the last thing that the model said; the answer, when Stop is
	// StopFinished.
	Final string
	Turns int
	Spent
	Duration time.Duration
}

// An Agent runs tasks. Safe for concurrent use if its parts are.
type Agent struct {
	opts    Options
	offered []model.ToolDefinition
	effects map[string]tools.Effect
	once    map[string]bool // tools that give a thing once
	stands  map[string]bool // tools whose newest call stands; see standing
}

// New returns an Agent. The tools are looked at once, here.
func New(opts Options) (*Agent, error) {
	if opts.Model == nil || opts.Tools == nil || opts.Recorder == nil {
		return nil, errors.New("making an agent: Model, Tools and Recorder are required")
	}
	opts.MaxTurns = cmp.Or(opts.MaxTurns, DefaultMaxTurns)
	if opts.MaxTurns < 0 || opts.MaxTime < 0 || opts.MaxRequests < 0 || opts.MaxTokens < 0 || opts.MaxCost < 0 || opts.ContextWindow < 0 {
		return nil, errors.New("making an agent: a limit is negative")
	}
	if opts.MaxCost > 0 && opts.Price == nil {
		return nil, errors.New("making an agent: a limit on the cost needs a price")
	}
	a := &Agent{opts: opts, effects: map[string]tools.Effect{}, once: map[string]bool{}, stands: map[string]bool{}}
	for _, def := range opts.Tools.Definitions() {
		offered := model.ToolDefinition{Name: def.Name, Description: def.Description}
		if def.Schema != nil {
			schema, err := json.Marshal(def.Schema)
			if err != nil {
				return nil, fmt.Errorf("writing the schema of the tool %s: %w", def.Name, err)
			}
			offered.Schema = schema
		}
		a.offered = append(a.offered, offered)
		a.effects[def.Name], a.once[def.Name], a.stands[def.Name] = def.Effect, def.Once, def.Standing
	}
	return a, nil
}

// Run works on one task until the model is done or something stops it. The
// outcome is always filled in. The error says what went wrong where the stop
// reason alone does not: for StopRefused, StopModel, StopSandbox, StopRecord,
// StopMaxContext, with the context's cause for StopCanceled, and for StopMaxTime
// where the time did not suffice for another try of a request that failed. The
// record ends with an end event in every case but StopRecord; before it stands,
// as a notice, why a run failed.
func (a *Agent) Run(ctx context.Context, task string) (Outcome, error) {
	return a.newRun(nil).do(ctx, task)
}

// newRun makes a run that another one waits for; nil is none.
func (a *Agent) newRun(parent *run) *run {
	r := &run{Agent: a, parent: parent, started: time.Now(), window: newWindow(a.opts.ContextWindow)}
	if a.opts.Price != nil {
		r.spent.Cost = new(0.0) // what is known to be nothing yet
	}
	r.asked = model.WithRetry(&counted{r}, r.retryPolicy())
	return r
}

// do is Run, of this run.
func (r *run) do(ctx context.Context, task string) (Outcome, error) {
	inner := ctx
	if r.opts.MaxTime > 0 {
		r.clock = newClock(ctx, r.opts.MaxTime)
		defer r.clock.stop()
		inner = r.clock
	}
	stop, err := r.work(inner, cleanText(task))
	r.endWait()
	if err != nil {
		stop, err = reason(ctx, inner, err)
	}
	stop, err = r.finish(stop, err)
	return Outcome{
		Stop: stop, Final: r.final, Turns: r.turns, Spent: r.spent, Duration: time.Since(r.started),
	}, err
}

// finish does what comes after the work. A record that cannot be written is
// told once; BeforeEnd is called all the same.
func (r *run) finish(stop Stop, err error) (Stop, error) {
	var recordErr error
	if stop != StopRecord {
		recordErr = r.closing()
	}
	var late error
	if r.opts.BeforeEnd != nil {
		late = r.opts.BeforeEnd()
	}
	if stop == StopRecord {
		return stop, err // whatever else failed failed for that
	}
	if recordErr == nil {
		recordErr = r.end(stop, err)
	}
	if recordErr != nil {
		return StopRecord, errors.Join(recordErr, err)
	}
	return stop, errors.Join(err, late)
}

// errMaxTime is the cause of a context that ended at Options.MaxTime.
var errMaxTime = errors.New("the time of the run is over")

// A recordError is a failure to write the record.
type recordError struct{ error }

func (e recordError) Unwrap() error { return e.error }

// A toolError is a tool that cannot work any more.
type toolError struct{ error }

func (e toolError) Unwrap() error { return e.error }

// reason sorts what ended a run. The outer context is the caller's; the inner
// one also ends with the run's time.
func reason(outer, inner context.Context, err error) (Stop, error) {
	var record recordError
	var tool toolError
	var limit limitError
	switch {
	case errors.As(err, &record):
		return StopRecord, record.error
	case outer.Err() != nil:
		return StopCanceled, context.Cause(outer)
	case inner.Err() != nil:
		return StopMaxTime, nil
	case errors.As(err, &limit):
		return limit.Stop, nil
	case outer != inner && errors.Is(err, model.ErrNoTime):
		return StopMaxTime, err
	case errors.As(err, &tool):
		return StopSandbox, tool.error
	case model.KindOf(err) == model.Filtered:
		return StopRefused, err
	case model.KindOf(err) == model.Context:
		return StopMaxContext, err
	default:
		return StopModel, err
	}
}
