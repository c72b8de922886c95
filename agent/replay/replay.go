// Package replay makes use of the record of a run without asking a model.
//
// [Run] runs the recorded calls again and compares what they give with what is
// on record. [Model] serves the recorded answers, so that the agent runs on
// them.
//
// A result has three parts that are compared: how the call ended (status, exit
// code, whether it is an error), what it gave (text and images, and the whole
// of a long output where it was kept), and the files that it read or left (by
// the hash of their content). What a record of an earlier belljar does not have
// is not compared.
package replay

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"regexp"
	"sync"
	"time"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/trajectory"
)

// A Caller runs calls. It is used by several goroutines at once.
type Caller interface {
	// Call returns the result of a call of the run's agent, or of the sub-agent
	// that the call parent of the run had; "" is none. What an agent has of its
	// own, such as a working directory, is one agent's here as well. An error
	// ends the replay.
	Call(ctx context.Context, parent string, call trajectory.ToolCall) (trajectory.ToolResult, error)
}

// Options say how a record is replayed. Caller is required.
type Options struct {
	Caller Caller
	// Lacks tells whether a tool that the agent below parent had cannot be had
	// now; nil is never.
	Lacks func(parent, name string) bool
	// Hide hides secrets in a result, as they are hidden in the record; nil
	// hides nothing.
	Hide func(trajectory.Body) trajectory.Body
	// Recorded and Replayed hold the whole outputs by the paths that results
	// name; nil has none.
	Recorded, Replayed fs.FS
	// Ignore are patterns whose matches are left out of both sides of what calls
	// gave before it is compared.
	Ignore []*regexp.Regexp
	// Pace waits between calls as long as the run did, at most MaxPause. It does
	// so in any case once the run had started a background job.
	Pace bool
	// OnCall is told of each call when it is done, in the order of the record.
	// Its error ends the replay. nil is not called.
	OnCall func(Call) error
}

// MaxPause is the longest wait between two calls.
const MaxPause = 10 * time.Second

// An Outcome is what came of one recorded call.
type Outcome string

// The outcomes.
const (
	Same    Outcome = "same"
	Differs Outcome = "differs"
	// Loose is a difference in what a background job wrote until it was looked
	// at, whether it had ended by then, or when it was told to have ended: that
	// depends on time, and is told and not counted as a difference.
	Loose Outcome = "loose"
	// NotRun is a call that is not run again; Call.Why says why.
	NotRun Outcome = "not_run"
)

// A Call is what came of one recorded call.
type Call struct {
	// Number counts the calls of the record from 1, and Seq is the number of the
	// call's event.
	Number int `json:"number"`
	Seq    int `json:"seq"`

	// Parent is the id of the call that had the sub-agent whose call this is;
	// empty for a call of the run's own agent.
	Parent    string  `json:"parent,omitempty"`
	CallID    string  `json:"call_id"`
	Name      string  `json:"name"`
	Arguments string  `json:"arguments"`
	Outcome   Outcome `json:"outcome"`
	// Why says in one word why the call was not run: the recorded status of the
	// result, WhyNoResult, WhyNoTool or WhyHidden.
	Why         string       `json:"why,omitempty"`
	Differences []Difference `json:"differences,omitempty"`
	RecordedMS  int64        `json:"recorded_ms"`
	ReplayedMS  int64        `json:"replayed_ms"`
}

// The reasons not to run a call that are no statuses.
const (
	WhyNoResult = "no_result" // the run was killed meanwhile, or still goes on
	WhyNoTool   = "no_tool"   // the tool cannot be had now, such as one that needs a model
	// WhyHidden: secrets were hidden in the arguments, so that another call would
	// run.
	WhyHidden = "hidden_arguments"
)

// A Summary counts what came of the calls.
type Summary struct {
	Calls   int `json:"calls"`
	Same    int `json:"same"`
	Differs int `json:"differs"`
	Loose   int `json:"loose"`
	// NotRun counts the calls that were not run, by why.
	NotRun map[string]int `json:"not_run"`
	// Truncated tells that the record stops in the middle of a line, and Ended
	// that it has an end.
	Truncated bool `json:"truncated"`
	Ended     bool `json:"ended"`
}

// Run runs the calls of a record again and compares the results. The order is
// that of the record, and calls that ran side by side do so again. What was
// done before an error is in the summary.
func Run(ctx context.Context, reader *trajectory.Reader, opts Options) (Summary, error) {
	r := &replay{opts: opts, sum: Summary{NotRun: map[string]int{}}}
	steps := &grouper{reader: reader}
	for {
		group, err := steps.next()
		r.sum.Truncated, r.sum.Ended = reader.Truncated(), steps.ended
		if errors.Is(err, io.EOF) {
			return r.sum, nil
		}
		if err == nil {
			err = r.group(ctx, group)
		}
		if err != nil {
			return r.sum, err
		}
	}
}

// A replay is the state of one Run.
type replay struct {
	opts Options
	sum  Summary
	last time.Time // when the last result was recorded
	jobs bool      // the run had started a background job
}

// group runs calls that ran side by side.
func (r *replay) group(ctx context.Context, group []*step) error {
	if err := r.pause(ctx, group); err != nil {
		return err
	}
	results := make([]trajectory.ToolResult, len(group))
	failures := make([]error, len(group))
	slots := make(chan struct{}, agent.MaxParallel)
	var running sync.WaitGroup
	for i, s := range group {
		if r.why(s) != "" {
			continue
		}
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			results[i], failures[i] = r.opts.Caller.Call(ctx, s.parent, s.call)
		})
	}
	running.Wait()
	if err := errors.Join(failures...); err != nil {
		return err
	}
	for i, s := range group {
		if err := r.tell(s, results[i]); err != nil {
			return err
		}
	}
	return nil
}

// pause waits as long as the run did before it began the calls.
func (r *replay) pause(ctx context.Context, group []*step) error {
	gap := min(group[0].began.Sub(r.last), MaxPause)
	first := r.last.IsZero()
	r.last = group[len(group)-1].ended
	if first || gap <= 0 || !r.opts.Pace && !r.jobs {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(gap)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// tell counts and tells what came of one call.
func (r *replay) tell(s *step, got trajectory.ToolResult) error {
	call := s.describe(r.why(s))
	if call.Why == "" {
		if r.opts.Hide != nil {
			got = r.opts.Hide(got).(trajectory.ToolResult)
		}
		call.ReplayedMS = got.DurationMS
		c := comparison{call: s.call, recorded: *s.result, replayed: got, opts: &r.opts}
		call.Outcome, call.Differences = c.run()
		r.jobs = r.jobs || c.isRunning()
	}
	r.sum.Calls++
	call.Number = r.sum.Calls
	switch call.Outcome {
	case Same:
		r.sum.Same++
	case Differs:
		r.sum.Differs++
	case Loose:
		r.sum.Loose++
	case NotRun:
		r.sum.NotRun[call.Why]++
	}
	if r.opts.OnCall == nil {
		return nil
	}
	return r.opts.OnCall(call)
}

// why says why a call is not run again, "" where it is.
func (r *replay) why(s *step) string {
	if s.result == nil {
		return WhyNoResult
	}
	switch status := s.result.Status; {
	case status == "denied", status == "not_run", status == "interrupted", status == "failed", status == "lost":
		return status
	case status == "canceled" && s.result.IsError: // by the end of the run; a job that was ended is no error
		return status
	case r.opts.Lacks != nil && r.opts.Lacks(s.parent, s.call.Name):
		return WhyNoTool
	case s.hidden():
		return WhyHidden
	}
	return ""
}
