package agent

import (
	"cmp"
	"fmt"
	"time"

	"github.com/belljar/belljar/tools"
)

// A part is what a sub-agent may use of what its run may still use; 0 is no
// limit, as in Options.
type part struct {
	turns, requests, tokens int
	cost                    float64
	time                    time.Duration
	clamped                 bool // more turns were asked for than there are
}

// A run keeps a quarter of what it has left, to do something with what the
// sub-agent finds: three quarters are given away at most.
const given, ofWhole = 3, 4

// part is what the next sub-agent may use, or says of what there is too little
// for one. All sub-agents together have as many turns as the run itself.
func (r *run) part(asked *float64) (p part, problem string) {
	left := r.opts.MaxTurns - r.subTurns
	if left <= 0 {
		return p, fmt.Sprintf("the sub-agents of this run have had all the turns that they have together, %d", r.opts.MaxTurns)
	}
	p.turns = min(DefaultSubTurns, left)
	if asked != nil {
		// In this order, for it may be more than an int holds.
		p.turns, p.clamped = int(min(*asked, float64(left))), *asked > float64(left)
	}
	if r.opts.MaxRequests > 0 {
		if p.requests = (r.opts.MaxRequests - r.spent.Requests) * given / ofWhole; p.requests <= 0 {
			return p, "hardly any requests to the model are left"
		}
	}
	if r.opts.MaxTokens > 0 {
		if p.tokens = (r.opts.MaxTokens - r.spent.Usage.Input - r.spent.Usage.Output) * given / ofWhole; p.tokens <= 0 {
			return p, "hardly any tokens are left"
		}
	}
	if r.opts.MaxCost > 0 {
		if p.cost = (r.opts.MaxCost - *r.spent.Cost) * given / ofWhole; p.cost <= 0 {
			return p, "hardly any money is left"
		}
	}
	if r.clock != nil {
		if p.time = r.clock.remaining() * given / ofWhole; p.time <= 0 {
			return p, "hardly any time is left"
		}
	}
	return p, ""
}

// charge counts what a sub-agent used as the run's, and takes what its model's
// server said of the window: it is the same one.
func (r *run) charge(sub *run) {
	r.spent = r.spent.add(sub.spent)
	r.subTurns += sub.turns
	if sub.window.told {
		r.window.most, r.window.told = sub.window.most, true
	}
}

// subResult tells what came of a sub-agent: its last answer, and how it ended.
func (r *run) subResult(outcome Outcome, err error, p part) tools.Result {
	turns := plural(outcome.Turns, "turn")
	said := r.clip(outcome.Final, maxSubResult)
	var res tools.Result
	if outcome.Stop == StopFinished {
		res = tools.Text(fmt.Sprintf("%s\n[the sub-agent completed its task after %s]", said, turns))
	} else {
		text := fmt.Sprintf("[the sub-agent did not complete its task; after %s it ended as %s: %s. What it changed in the workspace stands.]",
			turns, outcome.Stop, r.whyEnded(outcome.Stop, err))
		if said != "" {
			text += "\nWhat it said last:\n" + said
		}
		res = tools.Error(text)
		res.Status = string(outcome.Stop)
	}
	if p.clamped {
		res.Parts[0].Text += fmt.Sprintf("\n[max_turns was more than are left for sub-agents: it had %d]", p.turns)
	}
	return res
}

// whyEnded says in words why a sub-agent ended that did not finish.
func (r *run) whyEnded(stop Stop, err error) string {
	reason := map[Stop]string{
		StopMaxTurns:    "it has had its turns; give the rest to another one with a smaller task, or do it yourself",
		StopMaxTime:     "it has had its part of the time that was left",
		StopMaxRequests: "it has sent its part of the requests that were left",
		StopMaxTokens:   "it has used its part of the tokens that were left",
		StopMaxCost:     "it has spent its part of the money that was left",
		StopStuck:       "it went round in circles, or all its calls failed",
	}[stop]
	if err != nil {
		reason = r.clip(err.Error(), maxShown)
	}
	return cmp.Or(reason, "no reason is known")
}
