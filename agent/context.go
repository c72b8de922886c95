package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/belljar/belljar/agent/model"
)

// maxRefusals is the number of times that one conversation is made shorter after
// the server refused it as too long. A refused request costs nothing, and each
// makes the conversation much shorter than the one before.
const maxRefusals = 8

// The reasons for a compaction.
const (
	nearEnd = "the conversation came near the end of what the model can take"
	tooLong = "the model's server said that the conversation is too long"
)

// answer asks for the next answer. A conversation that would not fit is made
// shorter before, and again where the server says that it is too long.
func (r *run) answer(ctx context.Context) (model.Response, error) {
	if room := r.room(); room > 0 && r.size() > room {
		if err := r.makeRoom(ctx); err != nil {
			return model.Response{}, err
		}
	}
	for tries := 1; ; tries++ {
		resp, err := r.asked.Generate(ctx, r.request(), r.opts.OnText)
		if model.KindOf(err) != model.Context || tries > maxRefusals {
			r.keepIDsApart(resp, err)
			return resp, err
		}
		if err := r.overflow(ctx, err, tries); err != nil {
			return model.Response{}, err
		}
	}
}

// keepIDsApart gives a call another id that has the id of one which a summary
// stands for: the server has not seen that one, but the record has.
func (r *run) keepIDsApart(resp model.Response, err error) {
	if err == nil && len(r.window.gone) > 0 {
		past := append([]model.Message{{Calls: r.window.gone}}, r.history...)
		model.AssignIDs(past, resp.Calls)
	}
}

// makeRoom makes a conversation shorter that came near the end of the window.
func (r *run) makeRoom(ctx context.Context) error {
	before := r.size()
	if _, err := r.compact(ctx, nearEnd, r.room()); err != nil {
		return err
	}
	if limit := r.limit(); limit > 0 && r.size() > limit {
		return r.noRoom(before)
	}
	if stop := r.overSpent(); stop != "" {
		return limitError{stop}
	}
	return nil
}

// overflow makes room after the server refused the conversation as too long.
// What is known of the window was wrong then, or nothing was known. Whether the
// rest fits is for the server to say, as long as there is less of it.
func (r *run) overflow(ctx context.Context, refused error, tries int) error {
	if stop := r.overSpent(); stop != "" {
		return r.giveUp(stop, refused)
	}
	goal := r.learn(refused, tries)
	before := r.size()
	shorter, err := r.compact(ctx, tooLong, goal)
	if err != nil {
		return err
	}
	if !shorter {
		return fmt.Errorf("%w; %w", refused, r.noRoom(before)) // the server's own words may tell what it takes
	}
	if stop := r.overSpent(); stop != "" {
		return r.giveUp(stop, refused)
	}
	return nil
}

// learn takes from a refusal what the model takes, and says how many tokens to
// try next. Where the server does not say what it takes, that is three quarters
// of what was refused; and half, each further time. What stays as it is, the
// prompt and the task, is left out of these shares.
func (r *run) learn(refused error, tries int) int {
	w := &r.window
	var said model.Error
	if e, ok := errors.AsType[*model.Error](refused); ok {
		said = *e
	}
	size, base := r.size(), r.base()
	// A figure that cannot be is worse than none: more than so much has been
	// taken before, or is there whatever is left out.
	if said.Limit < max(base, w.took) {
		said.Limit = 0
	}
	if said.Size < size/mostScale || said.Size > size*mostScale {
		said.Size = 0
	}
	if said.Limit > 0 || said.Size > 0 {
		r.recount(cmp.Or(said.Size, max(size, said.Limit+1)))
		size, base = r.size(), r.base()
	}
	part := max(size-base, 0)
	switch {
	case tries > 1:
		part /= 2
	case said.Limit == 0:
		part = part * 3 / 4
	}
	goal := base + part
	switch {
	case said.Limit == 0:
		if w.guess == 0 || w.guess > goal {
			w.guess = goal
		}
	case w.most == 0 || w.most > said.Limit:
		w.most, w.told = said.Limit, true
	}
	return min(goal, max(r.room(), base))
}

// noRoom says that a conversation cannot be made to fit.
func (r *run) noRoom(before int) error {
	usual := float64(r.base()) / float64(max(r.guessBase(), 1))
	count := func(req model.Request) int {
		return int(float64(model.EstimateUsage(req, model.Response{}).Input) * usual)
	}
	prompt, task := count(model.Request{System: r.opts.System}), count(model.Request{Messages: r.history[:1]})
	offered := count(model.Request{Tools: r.offered})
	takes := ""
	if r.window.most > 0 {
		takes = fmt.Sprintf(", which takes about %d", r.window.most)
	}
	if after := r.size(); len(r.history) > 1 && after > r.base() {
		return model.Errorf(model.Context, "the conversation cannot be made short enough for the model%s: it has about %d tokens, about %d "+
			"after all that could be left out, of which the prompt has %d, the tools %d and the task %d; use a model that takes more",
			takes, before, after, prompt, offered, task)
	}
	return model.Errorf(model.Context, "the prompt, the tools and the task alone (about %d, %d and %d tokens) are too long for the model%s; "+
		"use one that takes more, or give it a shorter task", prompt, offered, task, takes)
}
