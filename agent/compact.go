package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
)

const (
	// enough is the part of the room, in percent and less what the prompt, the
	// tools and the task take, that a conversation may have when only results
	// were shortened. Each compaction costs the server's cache of the beginning,
	// so one that gains little is not worth it.
	enough = 60
	// recentShare is the part of the same that is kept word for word at the end
	// of a conversation.
	recentShare = 25
	// worthSummary is the part of the same that the middle must have to be
	// summed up, which costs a request; urgentSummary is that where the
	// conversation does not fit otherwise.
	worthSummary, urgentSummary = 20, 5
	// leastSummed is the number of tokens below which a summary is no shorter.
	leastSummed = 150
)

// A compaction makes a conversation shorter once. Figures are tokens.
type compaction struct {
	goal  int // what the next prompt should have at most
	free  int // the part of it for what comes after the task
	force bool
	done  []string // in words
	cut   []trajectory.Shortened
}

// compact makes the conversation shorter, reports whether it is, and puts on
// record what was done and by how much. Old results are shortened; where that is
// not enough, the middle is replaced by a summary; and where even that is not,
// the results of the last turns are shortened too, by as little as will do: the
// model has not seen the newest, and in the next turn they are old. The task
// stays as it is, and so does what was said in the last turns; only where the run
// would end otherwise are they summed up as well. Calls and their results stay
// beside each other. The record keeps the whole.
func (r *run) compact(ctx context.Context, reason string, goal int) (shorter bool, err error) {
	c := &compaction{goal: goal, free: goal - r.base(), force: reason == tooLong}
	if len(r.history) < 2 {
		return false, nil
	}
	before := r.size()
	if c.free > 0 {
		if err := r.shrink(ctx, c); err != nil {
			return false, err
		}
	}
	if r.stillTooLong(c) {
		if err := r.sumUpAll(ctx, c); err != nil {
			return false, err
		}
	}
	if len(c.done) == 0 {
		return false, nil
	}
	text := fmt.Sprintf("%s: %s; about %d tokens before, about %d after (estimated)", reason, strings.Join(c.done, ", "), before, r.size())
	return true, r.record(trajectory.Notice{Kind: trajectory.NoticeCompacted, Text: text, Shortened: c.cut})
}

// shrink does all that leaves the last turns as they are, but for their results.
func (r *run) shrink(ctx context.Context, c *compaction) error {
	target := r.base() + c.free*enough/100
	recent := r.recent(c.free * recentShare / 100)
	c.shortened(r.shorten(1, recent, oldKept, true), "old result")
	if r.size() > target && r.worthSumming(recent, c) {
		if err := r.sumUp(ctx, recent, c); err != nil {
			return err
		}
		recent = 2
	}
	c.shortened(r.squeeze(recent, len(r.history), c.goal), "result of the last turns")
	return nil
}

// worthSumming tells whether a summary of what stands before a message would
// gain enough.
func (r *run) worthSumming(recent int, c *compaction) bool {
	least := c.free * worthSummary / 100
	if r.size() > c.goal {
		least = c.free * urgentSummary / 100
	}
	return r.window.guessed(r.unsummed(recent)) >= max(least, leastSummed)
}

// unsummed are the messages between the task, or the summary after it, and
// another one.
func (r *run) unsummed(upTo int) []model.Message {
	if r.window.summed.text != "" {
		return r.history[min(2, upTo):upTo]
	}
	return r.history[1:upTo]
}

// sumUp replaces the messages between the task and another one by a summary.
func (r *run) sumUp(ctx context.Context, upTo int, c *compaction) error {
	n := upTo - 1
	why, err := r.summarise(ctx, upTo, c.free)
	if err != nil {
		return err
	}
	text := plural(n, "message") + " replaced by a summary"
	if why != "" {
		text = plural(n, "message") + " replaced by parts of them, for there was no summary (" + why + ")"
	}
	c.done, c.cut = append(c.done, text), nil // all that was cut until now is gone
	return nil
}

// sumUpAll replaces all messages after the task, if that is worth anything. It is
// the last that can be done.
func (r *run) sumUpAll(ctx context.Context, c *compaction) error {
	c.free = max(c.free, r.base()/4) // there is none where the prompt alone is above the goal
	known, all := r.window.summed.text, len(r.history)
	if r.window.guessed(r.unsummed(all)) >= leastSummed || len(known) >= leastSummed*bytesPerToken {
		if err := r.sumUp(ctx, all, c); err != nil {
			return err
		}
	}
	if !r.stillTooLong(c) {
		return nil
	}
	return r.leaveStandingOut(c)
}

// stillTooLong tells whether the run would end for want of room.
func (r *run) stillTooLong(c *compaction) bool {
	limit := r.limit()
	return limit > 0 && r.size() > limit || c.force && len(c.done) == 0
}

// shortened notes what was shortened.
func (c *compaction) shortened(s trajectory.Shortened, what string) {
	if len(s.Calls) == 0 {
		return
	}
	c.done = append(c.done, plural(len(s.Calls), what)+" shortened")
	c.cut = append(c.cut, s)
}

// recent is where the last turns begin that have at most so many tokens
// together; the last one is among them whatever it has.
func (r *run) recent(most int) int {
	start, size := len(r.history), 0
	for i := len(r.history) - 1; i > 0; i-- {
		size += r.window.guessed(r.history[i : i+1])
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
	name, of, _ := strings.Cut(thing, " of ")
	if of != "" {
		of = " of " + of
	}
	return fmt.Sprintf("%d %ss%s", n, name, of)
}
