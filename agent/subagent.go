package agent

import (
	"cmp"
	"context"
	_ "embed" // the description is part of the binary
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/template"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

//go:embed subagent.md
var subAgentText string

const (
	// DefaultSubTurns is the number of turns after which a sub-agent stops that
	// was given none; that of the run, where that is less.
	DefaultSubTurns = 25
	// maxSubResult bounds what is handed back of a sub-agent's answer, in bytes.
	maxSubResult = 16 << 10
)

// A SubAgent is what one sub-agent has of its own. All else it has of the agent
// that it works for.
type SubAgent struct {
	// Tools are what it may call. The tool that starts sub-agents is not among
	// them.
	Tools Tools
	// System is its system prompt.
	System string
	// Closing is as in Options; nil is nothing.
	Closing func() []trajectory.Notice
	// Close gives back what was opened for it, when it has ended. nil is nothing.
	Close func() error
}

// SubOptions say what sub-agents are made of. New is required.
type SubOptions struct {
	// New makes what the next sub-agent has of its own.
	New func() (SubAgent, error)
	// MaxTurns is that of the run, for the description; 0 is DefaultMaxTurns.
	MaxTurns int
}

// subAgents is the tool by which an agent hands on a part of its task. It finds
// out by the context of a call which run that is of.
type subAgents struct {
	opts SubOptions
	def  tools.Definition
}

var _ tools.Tool = (*subAgents)(nil)

// NewSubAgents makes the tool agent. Each call runs an agent of its own below the
// run that the call is of: with its model, in its record, asking the same person,
// and within what it may still use. Its calls run programs and change files, so
// they are alone, one after another. It works in a run of this package only.
func NewSubAgents(opts SubOptions) (tools.Tool, error) {
	if opts.New == nil {
		return nil, errors.New("making the tool agent: New is required")
	}
	opts.MaxTurns = cmp.Or(opts.MaxTurns, DefaultMaxTurns)
	t, err := template.New("subagent.md").Option("missingkey=error").Parse(subAgentText)
	if err != nil {
		return nil, fmt.Errorf("reading the description of the tool agent: %w", err)
	}
	var text strings.Builder
	if err := t.Execute(&text, map[string]any{
		"MostResult": fmt.Sprintf("%d KiB", maxSubResult>>10), "Turns": min(DefaultSubTurns, opts.MaxTurns), "MostTurns": opts.MaxTurns,
	}); err != nil {
		return nil, fmt.Errorf("writing the description of the tool agent: %w", err)
	}
	return &subAgents{opts, tools.Definition{
		Name: "agent", Description: strings.TrimSpace(text.String()), Effect: tools.Execute,
		Schema: &jsonschema.Schema{
			Type: "object", Required: []string{"task"}, PropertyOrder: []string{"task", "max_turns"},
			Properties: map[string]*jsonschema.Schema{
				"task":      {Type: "string", Description: "What the sub-agent is to do, with all that it has to know."},
				"max_turns": {Type: "integer", Description: "The number of its answers after which it is stopped."},
			},
			AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
		},
	}}, nil
}

func (s *subAgents) Definition() tools.Definition { return s.def }

func (s *subAgents) Execute(ctx context.Context, args json.RawMessage) (tools.Result, error) {
	var in struct {
		Task     string   `json:"task"`
		MaxTurns *float64 `json:"max_turns"` // the schema takes 5.0 for a whole number
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return tools.Error("the arguments do not have the shape of the schema: " + err.Error()), nil
	}
	of, ok := ctx.Value(callKey{}).(callOf)
	switch {
	case !ok:
		return tools.Result{}, errors.New("starting a sub-agent: the call is of no run")
	case of.run.parent != nil:
		return tools.Error("a sub-agent cannot start another one: do this part yourself"), nil
	case strings.TrimSpace(in.Task) == "":
		return tools.Error("task is empty: say what the sub-agent is to do"), nil
	case in.MaxTurns != nil && *in.MaxTurns <= 0:
		return tools.Error(fmt.Sprintf("max_turns must be more than 0; leave it out for the default of %d", min(DefaultSubTurns, of.run.opts.MaxTurns))), nil
	}
	part, problem := of.run.part(in.MaxTurns)
	if problem != "" {
		return notStarted(problem), nil
	}
	return s.start(ctx, of, in.Task, part)
}

// start runs one sub-agent and tells what came of it.
func (s *subAgents) start(ctx context.Context, of callOf, task string, p part) (res tools.Result, err error) {
	// What breaks down is a whole run here and not a tool: what it did is unknown.
	defer func() {
		if v := recover(); v != nil {
			res, err = tools.Result{}, faultError{fmt.Errorf("the sub-agent broke down (%v): this is a fault of belljar", v)}
		}
	}()
	own, err := s.opts.New()
	if err != nil {
		return notStarted(err.Error()), nil
	}
	defer func() {
		if own.Close != nil {
			res, err = closed(res, err, own.Close())
		}
	}()
	below, err := New(of.subOptions(task, own, p))
	if err != nil {
		return notStarted(err.Error()), nil
	}
	sub := below.newRun(of.run)
	defer of.run.charge(sub)
	outcome, err := sub.do(ctx, task)
	switch {
	case outcome.Stop == StopRecord:
		return tools.Result{}, recordError{err}
	case ctx.Err() != nil:
		return tools.Result{}, context.Cause(ctx)
	case outcome.Stop == StopSandbox:
		return tools.Result{}, err
	}
	return of.run.subResult(outcome, err, p), nil
}

// notStarted answers a call that no sub-agent was started for.
func notStarted(why string) tools.Result {
	return tools.Error("no sub-agent was started: " + why + "; do this part yourself, or end with what there is")
}

// closed adds to what came of a sub-agent why not all that was opened for it could
// be given back. What it has done stands.
func closed(res tools.Result, err, closeErr error) (tools.Result, error) {
	switch {
	case closeErr == nil:
		return res, err
	case err != nil:
		return res, errors.Join(err, closeErr)
	}
	res.Parts = append(res.Parts, tools.Part{Text: "[what it opened could not be given back: " + closeErr.Error() + "]"})
	return res, nil
}

// A faultError is a part of the program that broke down, and not the sandbox.
type faultError struct{ error }

// callKey finds the callOf in the context of a call. It tells which call that
// is, which no tool but this has to know; the tools between hand it on.
type callKey struct{}

// A callOf is a call of a run.
type callOf struct {
	run *run
	id  string
}

// subOptions are those of a sub-agent: what it has of its own, and all else as
// the run has it, in its place in the record and within its part. What talks to
// the user of the run, and begins and ends it, is the run's alone.
func (of callOf) subOptions(task string, own SubAgent, p part) Options {
	o := of.run.opts
	return Options{
		Tools: own.Tools, System: own.System, Closing: own.Closing,
		Recorder: trajectory.Nest(of.id, o.Recorder), Approve: approveFor(task, o.Approve),
		Model: o.Model, Start: o.Start, NewOutput: o.NewOutput, Images: o.Images, Mask: o.Mask, Outputs: o.Outputs,
		Price: o.Price, Retry: o.Retry,
		ContextWindow: of.run.window.most, FindWindow: of.run.findWindow,
		MaxTurns: p.turns, MaxRequests: p.requests, MaxTokens: p.tokens, MaxCost: p.cost, MaxTime: p.time,
	}
}

// An approveFunc decides about a call, as Options.Approve does.
type approveFunc = func(context.Context, ApprovalRequest) Approval

// approveFor asks with the task of the sub-agent whose call it is.
func approveFor(task string, approve approveFunc) approveFunc {
	if approve == nil {
		return nil
	}
	return func(ctx context.Context, request ApprovalRequest) Approval {
		request.Agent = task
		return approve(ctx, request)
	}
}
