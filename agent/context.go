package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
)

const (
	// maxClose is the number of summaries in a row, each with hardly a turn after
	// the one before, that end a run: what it works on is too large for the
	// model, and each costs a request.
	maxClose = 4
	// enough is the part of the room, in percent and less what the prompt and
	// the tools take, that a conversation may have when only results were shortened. Each compaction costs the server's cache
	// of the beginning, so one that gains little is not worth it.
	enough = 60
	// recentShare is the part of the same that is kept word for word at the end
	// of a conversation.
	recentShare = 25
	// worthSummary is the part of the same that the middle must have to be
	// summed up: that costs a request.
	worthSummary = 10
)

// The reasons for a compaction.
const (
	nearEnd = "the conversation came near the end of what the model can take"
	tooLong = "the model's server said that the conversation is too long"
)

// answer asks for the next answer. A conversation that would not fit is made
// shorter before, and once more where the server says that it is too long.
func (r *run) answer(ctx context.Context) (model.Response, error) {
	if w := &r.window; w.room > 0 && r.size() > w.room {
		if err := r.compact(ctx, nearEnd); err != nil {
			return model.Response{}, err
		}
		if stop := r.overSpent(); stop != "" {
			return model.Response{}, limitError{stop}
		}
	}
	resp, err := r.asked.Generate(ctx, r.request(), r.opts.OnText)
	if model.KindOf(err) == model.Context {
		if err := r.overflow(ctx, err); err != nil {
			return model.Response{}, err
		}
		resp, err = r.asked.Generate(ctx, r.request(), r.opts.OnText)
	}
	if err == nil && len(r.window.gone) > 0 {
		// An id may be that of a call which a summary stands for: the server
		// has not seen it, but the record has.
		past := append([]model.Message{{Calls: r.window.gone}}, r.history...)
		model.AssignIDs(past, resp.Calls)
	}
	return resp, err
}

// overflow makes room after the server refused the conversation as too long.
// What is known of the window was wrong then, or nothing was known.
func (r *run) overflow(ctx context.Context, refused error) error {
	if stop := r.overSpent(); stop != "" {
		return r.giveUp(stop, refused)
	}
	w := &r.window
	fixed := r.fixed()
	most := fixed + max(r.size()-fixed, 0)*3/4
	if w.room == 0 || w.room > most {
		w.room = most
	}
	if len(r.history) < 2 {
		return fmt.Errorf("the task alone is too long for the model: %w", refused)
	}
	err := r.compact(ctx, tooLong)
	if model.KindOf(err) == model.Context {
		return fmt.Errorf("%w; %v", refused, err) // the server's own words may tell what it takes
	}
	if stop := r.overSpent(); err == nil && stop != "" {
		return limitError{stop}
	}
	return err
}

// compact makes the conversation shorter, and puts on record by how much. Old
// results are shortened; where that is not enough, the middle is replaced by a
// summary; and where even that is not, and the run would end, the results of the
// last turns are shortened too. The task and what was said in the last turns
// stay as they are, and so do calls and their results beside each other. The
// record keeps the whole.
func (r *run) compact(ctx context.Context, reason string) error {
	w := &r.window
	before, fixed := r.size(), r.fixed()
	free := w.room - fixed
	if free <= 0 {
		return w.noRoom(before, before, fixed)
	}
	recent := r.recent(free * recentShare / 100)
	done := []string{}
	if n := r.shortenResults(1, recent, oldKept); n > 0 {
		done = append(done, fmt.Sprintf("%s shortened", plural(n, "old result")))
	}
	if n := recent - 1; n > 0 && r.size()-fixed > free*enough/100 && w.scaled(estimate(r.history[1:recent])) >= free*worthSummary/100 {
		if err := r.countClose(); err != nil {
			return err
		}
		if err := r.summarise(ctx, recent, free); err != nil {
			return err
		}
		recent = 2
		done = append(done, fmt.Sprintf("%s replaced by a summary", plural(n, "message")))
	}
	if n := r.squeeze(recent); n > 0 {
		done = append(done, fmt.Sprintf("%s of the last turns shortened", plural(n, "result")))
	}
	after := r.size()
	if len(done) > 0 {
		text := fmt.Sprintf("%s: %s; about %d tokens before, about %d after (estimated)", reason, strings.Join(done, ", "), before, after)
		if err := r.record(trajectory.Notice{Kind: trajectory.NoticeCompacted, Text: text}); err != nil {
			return err
		}
	}
	if after > w.room {
		return w.noRoom(before, after, fixed)
	}
	return nil
}

// noRoom says that a conversation cannot be made to fit.
func (w *window) noRoom(before, after, fixed int) error {
	return model.Errorf(model.Context, "the conversation cannot be made short enough: it has about %d tokens, about %d after all that "+
		"could be left out, of which the prompt and the tools are %d, and there is room for about %d; use a model that takes more, "+
		"or give it less to read at once", before, after, fixed, w.room)
}

// squeeze shortens the results from a message on by as little as makes the
// conversation fit, and reports how many it shortened.
func (r *run) squeeze(from int) int {
	whole, n := r.history, 0
	for kept := newestKept; r.size() > r.window.room && kept >= oldKept; kept /= 2 {
		r.history = slices.Clone(whole)
		n = r.shortenResults(from, len(whole), kept)
	}
	return n
}

// countClose ends a run whose middle has to be summed up again and again.
func (r *run) countClose() error {
	w := &r.window
	if w.last > 0 && r.turns-w.last <= 1 {
		w.close++
	} else {
		w.close = 0
	}
	w.last = r.turns
	if w.close+1 >= maxClose {
		return model.Errorf(model.Context, "the conversation had to be summed up %d times, after each answer: "+
			"what the model works on is too large for it; use a model that takes more, or give it less to read at once", w.close+1)
	}
	return nil
}

// recent is where the last turns begin that have at most so many tokens
// together; the last one is among them whatever it has.
func (r *run) recent(most int) int {
	start, size := len(r.history), 0
	for i := len(r.history) - 1; i > 0; i-- {
		size += r.window.scaled(estimate(r.history[i : i+1]))
		if start < len(r.history) && size > most {
			break
		}
		if r.history[i].Role == model.Assistant {
			start = i
		}
	}
	return start
}

// plural is a number of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
