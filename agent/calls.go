package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

const (
	// maxParallel bounds the calls that run side by side.
	maxParallel = 8
	// maxExtra bounds the further fields of a call that are recorded, in bytes.
	maxExtra = 1 << 20
)

// The statuses of results that no tool gave. A tool's own status stands for
// itself, and statusOK and statusError stand in where it gave none.
const (
	statusOK          = "ok"
	statusError       = "error"
	statusNotRun      = "not_run"
	statusInterrupted = "interrupted"
	statusFailed      = "failed"
)

// notRunText answers calls that a run which ended did not get to.
const notRunText = "not run: the run ended before this call"

// A done is a call that has come to its end.
type done struct {
	result   tools.Result
	status   string
	duration time.Duration
	output   string // path of the raw output
	answered bool   // a person said no, which is an answer and no failure
	err      error  // what ends the run
}

// callAll runs the calls of one answer: neighbouring ones that only read side
// by side, every other one alone. When something ends the run, the calls that
// are left get a result that says so.
func (r *run) callAll(ctx context.Context, calls []model.ToolCall) error {
	for len(calls) > 0 {
		var err error
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		} else {
			n := r.group(calls)
			err = r.callGroup(ctx, calls[:n])
			calls = calls[n:]
		}
		if err != nil {
			return r.skipAll(calls, err)
		}
	}
	return nil
}

// group is the number of calls from the first on that may run at once.
func (r *run) group(calls []model.ToolCall) int {
	n := 0
	for n < len(calls) {
		if effect, known := r.effects[calls[n].Name]; !known || effect != tools.Read {
			break
		}
		n++
	}
	return max(n, 1)
}

// callGroup runs calls side by side, but for those that are denied, and records
// their results in order. It returns when all of them have ended.
func (r *run) callGroup(ctx context.Context, calls []model.ToolCall) error {
	for _, call := range calls {
		if err := r.recordCall(call); err != nil {
			return err
		}
	}
	denied, err := r.approve(ctx, calls)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel() // before the wait: a record that failed ends the others
	slots := make(chan struct{}, maxParallel)
	ended := make([]chan done, len(calls))
	for i, call := range calls {
		ended[i] = make(chan done, 1) // room for the one result, so that it never blocks
		if denied[i] != nil {
			ended[i] <- *denied[i]
			continue
		}
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			ended[i] <- r.execute(context.WithValue(ctx, callKey{}, callOf{r, call.ID}), call)
		})
	}
	var failed error
	for i, call := range calls {
		d := <-ended[i]
		if err := r.recordResult(call, d); err != nil {
			return err
		}
		if failed == nil {
			failed = d.err
		}
	}
	return failed
}

// execute runs one call. It is called by several goroutines.
func (a *Agent) execute(ctx context.Context, call model.ToolCall) done {
	if ctx.Err() != nil {
		return done{result: tools.Error(notRunText), status: statusNotRun, err: context.Cause(ctx)}
	}
	start := time.Now()
	var out Output
	var writer io.Writer // stays a nil interface where nothing is kept
	if a.opts.NewOutput != nil {
		out = a.opts.NewOutput()
		writer = out
	}
	result, err := a.opts.Tools.ExecuteTo(ctx, call.Name, json.RawMessage(call.Arguments), writer)
	d := done{result: result, status: result.Status, duration: time.Since(start)}
	if out != nil {
		if closeErr := out.Close(); closeErr != nil && err == nil {
			d.err = toolError{closeErr}
		}
		d.output = out.Name()
	}
	switch {
	case err != nil && ctx.Err() != nil:
		d.err, d.status = context.Cause(ctx), statusInterrupted
		d.result = tools.Error(model.Interrupted)
	case err != nil:
		d.err, d.status = toolError{err}, statusFailed
		what := "the sandbox"
		if _, fault := errors.AsType[faultError](err); fault {
			what = "belljar"
		}
		d.result = tools.Error("failed: " + what + " broke while this call ran, and it is not known what it did")
	case d.status == "" && result.IsError:
		d.status = statusError
	case d.status == "":
		d.status = statusOK
	}
	return d
}

// skipAll gives the calls that are left a result and returns why they were not
// run. Where even that cannot be recorded, that is what is returned.
func (r *run) skipAll(calls []model.ToolCall, why error) error {
	if _, isRecord := why.(recordError); isRecord {
		return why
	}
	for _, call := range calls {
		if err := r.skip(call, notRunText); err != nil {
			return err
		}
	}
	return why
}

// skip records a call that is not run and its result.
func (r *run) skip(call model.ToolCall, text string) error {
	if err := r.recordCall(call); err != nil {
		return err
	}
	return r.recordResult(call, done{result: tools.Error(text), status: statusNotRun})
}

// recordCall records a call, with what has to go back to its server. The bound
// on that is far above what servers send, and keeps an event within what a
// record can hold.
func (r *run) recordCall(call model.ToolCall) error {
	event := trajectory.ToolCall{CallID: call.ID, Name: call.Name, Arguments: call.Arguments}
	if event.Origin = call.Origin; len(call.Extra) <= maxExtra {
		event.Extra = call.Extra // else the origin alone tells that there was more
	}
	return r.record(event)
}

// recordResult records a result and hands it to the model.
func (r *run) recordResult(call model.ToolCall, d done) error {
	event, parts := r.result(call, d)
	if err := r.record(event); err != nil {
		return err
	}
	r.history = append(r.history, model.Message{Role: model.Tool, CallID: call.ID, IsError: d.result.IsError, Parts: parts})
	r.window.keepOutput(call.ID, d.output)
	failed := d.result.IsError && !d.answered
	r.repeats.add(digest(call, d.status, lasting(d.result, parts)), !failed && !r.stands[call.Name], failed)
	return nil
}

// result is what goes on record of a call that has come to its end, and what the
// model is shown of it.
func (a *Agent) result(call model.ToolCall, d done) (trajectory.ToolResult, []model.Part) {
	var parts []model.Part
	content := []trajectory.Part{}
	for _, p := range d.result.Parts {
		if p.MediaType != "" && !a.opts.Images {
			p = tools.Part{Text: fmt.Sprintf("(the image itself, %s of %d bytes, is left out: you are taken for a model that sees none)", p.MediaType, len(p.Data))}
		}
		if p.MediaType != "" {
			content = append(content, trajectory.Part{Type: "image", MediaType: p.MediaType, Data: p.Data})
		} else {
			p.Text = cleanText(p.Text)
			content = append(content, trajectory.Part{Type: "text", Text: p.Text})
		}
		parts = append(parts, model.Part(p))
	}
	event := trajectory.ToolResult{
		CallID: call.ID, Name: call.Name, Status: d.status, ExitCode: d.result.ExitCode,
		DurationMS: d.duration.Milliseconds(), IsError: d.result.IsError, Content: content, Output: d.output,
		Lasting: a.lastingSum(d.result.Lasting),
	}
	if !a.hides(call, content) {
		for _, f := range d.result.Files {
			event.Files = append(event.Files, trajectory.FileSum(f))
		}
	}
	return event, parts
}

// hides tells whether secrets are hidden on record in a call or what it gave.
// The sum of a file that is on record but for a secret would tell whoever guesses
// it that they are right.
func (a *Agent) hides(call model.ToolCall, content []trajectory.Part) bool {
	if a.opts.Mask == nil {
		return false
	}
	texts := []string{call.Arguments}
	for _, p := range content {
		texts = append(texts, p.Text)
	}
	return slices.ContainsFunc(texts, func(text string) bool { return a.opts.Mask(text) != text })
}

// lastingSum stands for a text on record, secrets hidden, as they are in what is
// beside it; "" stays that.
func (a *Agent) lastingSum(text string) string {
	if text == "" {
		return ""
	}
	if text = cleanText(text); a.opts.Mask != nil {
		text = a.opts.Mask(text)
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
