package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
)

const (
	// maxEmpty is the number of empty answers in a row that end a run.
	maxEmpty = 3
	// maxCut is the number of answers in a row, cut by the output limit, that
	// end a run.
	maxCut = 3
)

// What the model is told in the notices.
const (
	emptyText = "Your last answer was empty. Go on with the task; when it is done, say so in words."
	cutText   = "Your last answer was cut off at the output limit. Go on exactly where it ended."
	cutCall   = "not run: the answer was cut off at the output limit, so this call may be incomplete. " +
		"Ask for less at once: write a large file in several parts."
)

// A run is the state of one task. One goroutine uses it.
type run struct {
	*Agent
	parent  *run // waits for this one; nil is none
	started time.Time
	clock   *clock      // bounds the run's time; nil is no bound
	asked   model.Model // the model, as the run asks it
	spent   Spent
	waiting time.Time // when the wait began that goes on; zero is none
	failing string    // why the last request failed
	history []model.Message
	window  window
	turns   int
	final   string // the last thing the model said
	partial string // the beginning of an answer that was cut
	bad     int    // answers in a row with a call that the server could not read
	empty   int    // empty answers in a row
	cut     int    // cut answers in a row
	written int    // calls written as text since the last one that was made
	repeats repeats
	// subTurns are the turns that sub-agents have had.
	subTurns int
}

// work is the loop. It ends with a reason to stop, or with an error that reason
// sorts.
func (r *run) work(ctx context.Context, task string) (Stop, error) {
	start := r.opts.Start
	start.Task, start.Model = task, r.opts.Model.Name()
	if err := r.record(start); err != nil {
		return "", err
	}
	if err := r.record(trajectory.Message{Role: string(model.User), Text: task}); err != nil {
		return "", err
	}
	r.history = []model.Message{{Role: model.User, Text: task}}
	for _, notice := range r.opts.Opening {
		notice.Text = cleanText(notice.Text)
		if err := r.record(notice); err != nil {
			return "", err
		}
	}
	for {
		if stop := r.overLimit(); stop != "" {
			return stop, nil
		}
		var stop Stop
		resp, err := r.ask(ctx)
		switch {
		case model.KindOf(err) == model.BadCall:
			stop, err = r.takeBadCall(err)
		case err == nil:
			stop, err = r.take(ctx, resp)
		}
		if stop != "" || err != nil {
			return stop, err
		}
	}
}

// ask gets the next answer and records it.
func (r *run) ask(ctx context.Context) (model.Response, error) {
	resp, err := r.answer(ctx)
	if err != nil {
		return model.Response{}, err
	}
	r.turns++
	resp.Text, resp.Reasoning = cleanText(resp.Text), cleanText(resp.Reasoning)
	message := trajectory.Message{Role: string(model.Assistant), Text: resp.Text, Reasoning: resp.Reasoning}
	if err := r.record(message); err != nil {
		return model.Response{}, err
	}
	if err := r.spend(resp.Usage); err != nil {
		return model.Response{}, err
	}
	if err := r.weigh(resp); err != nil {
		return model.Response{}, err
	}
	r.findWindow()
	r.history = append(r.history, model.Message{
		Role: model.Assistant, Text: resp.Text, Reasoning: resp.Reasoning, Calls: resp.Calls,
	})
	return resp, nil
}

// take acts on an answer.
func (r *run) take(ctx context.Context, resp model.Response) (Stop, error) {
	r.bad = 0
	said := strings.TrimSpace(resp.Text) != ""
	if said {
		r.final = r.partial + resp.Text
	}
	if resp.Finish == model.FinishLength {
		return r.takeCut(resp)
	}
	r.partial, r.cut = "", 0
	switch {
	case len(resp.Calls) > 0:
		r.empty, r.written = 0, 0
		return r.takeCalls(ctx, resp.Calls)
	case r.writtenCall(resp):
		return r.takeWritten()
	case said:
		return StopFinished, nil
	default:
		return r.takeEmpty()
	}
}

// takeCalls runs the calls of an answer and looks out for a model that goes
// round in circles.
func (r *run) takeCalls(ctx context.Context, calls []model.ToolCall) (Stop, error) {
	if err := r.callAll(ctx, calls); err != nil {
		return "", err
	}
	found, circling := r.repeats.turn()
	switch {
	case !circling:
		return "", nil
	case found.stop:
		return r.stuck(found.reason)
	default:
		return "", r.tell(trajectory.NoticeRepeat, found.notice)
	}
}

// stuck stops the run and puts on record why.
func (r *run) stuck(reason string) (Stop, error) {
	return StopStuck, r.record(trajectory.Notice{Kind: trajectory.NoticeStuck, Text: reason})
}

// takeCut deals with an answer that the output limit cut. None of its calls is
// run, because the last one is a part of what was meant.
func (r *run) takeCut(resp model.Response) (Stop, error) {
	for _, call := range resp.Calls {
		if err := r.skip(call, cutCall); err != nil {
			return "", err
		}
	}
	if r.cut++; r.cut >= maxCut {
		return r.stuck(fmt.Sprintf("the last %d answers were all cut off at the output limit", r.cut))
	}
	if len(resp.Calls) > 0 {
		r.partial = ""
		return "", nil // the results tell the model
	}
	r.partial += resp.Text
	return "", r.tell(trajectory.NoticeCut, cutText)
}

// takeEmpty deals with an answer that says nothing and asks for nothing.
func (r *run) takeEmpty() (Stop, error) {
	if r.empty++; r.empty >= maxEmpty {
		return "", model.Errorf(model.Permanent, "the model %s gave %d empty answers in a row; try again or use another one",
			r.opts.Model.Name(), r.empty)
	}
	return "", r.tell(trajectory.NoticeEmpty, emptyText)
}

// tell records a notice and says the same to the model.
func (r *run) tell(kind, text string) error {
	if err := r.record(trajectory.Notice{Kind: kind, Text: text}); err != nil {
		return err
	}
	r.history = append(r.history, model.Message{Role: model.User, Text: text})
	return nil
}

// end records why the run stopped: what else is to be told of it, what went
// wrong, where something did, and the end.
func (r *run) end(stop Stop, err error) error {
	switch {
	case err == nil:
	case stop == StopModel, stop == StopRefused, stop == StopSandbox, stop == StopMaxTime, stop == StopMaxContext:
		notice := trajectory.Notice{Kind: trajectory.NoticeError, Text: cleanText(err.Error())}
		if err := r.opts.Recorder.Record(notice); err != nil {
			return err
		}
	}
	return r.opts.Recorder.Record(r.sum(trajectory.End{Stop: string(stop), Final: r.final, Turns: r.turns}))
}

// closing records what else there is to tell before the end.
func (r *run) closing() error {
	if r.opts.Closing == nil {
		return nil
	}
	for _, notice := range r.opts.Closing() {
		notice.Text = cleanText(notice.Text)
		if err := r.opts.Recorder.Record(notice); err != nil {
			return err
		}
	}
	return nil
}

// record writes one event.
func (r *run) record(body trajectory.Body) error {
	if err := r.opts.Recorder.Record(body); err != nil {
		return recordError{err}
	}
	return nil
}
