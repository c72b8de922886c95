package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/ui"
)

// An agreement is to more calls of a kind than the one that was asked about.
type agreement int

const (
	agreedOne      agreement = iota
	agreedOrdinary           // those that nothing is out of the ordinary about
	agreedAll
)

// An approver decides about calls by the user's settings and, where they say so,
// by what the person at the terminal answers. One goroutine uses it.
type approver struct {
	modes  approvals
	agreed [len(approvals{})]agreement
	guard  bool
	asks   *prompter
	nobody string // why nobody can be asked; "" where somebody can
	lifted string // the flag that lets slips run; "" is --approval risky
	show   func(a ui.Approval, ready func()) (done func(answered bool))
	again  shower // asks once more, about what is shown
	mask   func(string) string
}

// approver makes the one of the run.
func (j *job) approver() *approver {
	return &approver{
		modes: j.opts.approval, guard: j.opts.guard, asks: j.asks, nobody: j.nobody(),
		show: j.screen.Approval, again: j.screen.Question, mask: j.masker.Mask,
	}
}

// nobody says why nobody can be asked, and nothing where somebody can.
func (j *job) nobody() string {
	switch {
	case j.asks != nil:
		return ""
	case j.opts.json:
		return "--json asks nothing"
	case j.opts.quiet:
		return "--quiet asks nothing"
	default:
		return "stdin and stderr are not both a terminal"
	}
}

// decide decides about one call.
func (v *approver) decide(ctx context.Context, req agent.ApprovalRequest) agent.Approval {
	mode, risky := v.modes[req.Effect], req.Risk.Text != ""
	switch agreed := v.agreed[req.Effect]; {
	case agreed == agreedAll && risky:
		return agent.Approval{Decision: agent.Allowed, By: trajectory.ByAlways}
	case agreed != agreedOne && !risky:
		return agent.Approval{}
	case mode == approvalAlways, mode == approvalRisky && risky:
		return v.ask(ctx, req)
	case req.Risk.Slip && v.guard:
		return agent.Approval{Decision: agent.Denied, By: trajectory.ByGuard, Reason: v.slipText(req)}
	case req.Risk.Slip:
		return agent.Approval{Decision: agent.Allowed, By: trajectory.BySettings}
	case req.Risk.Failed && v.guard: // what it does not understand it lets through
		return agent.Approval{Decision: agent.Allowed, By: trajectory.ByGuard}
	}
	return agent.Approval{}
}

// slipText says why the guard does not let a call run.
func (v *approver) slipText(req agent.ApprovalRequest) string {
	return "the guard against slips holds this: " + req.Risk.Text + instead(req) +
		"\nwhere it is meant all the same: the user can allow it (" + cmp.Or(v.lifted, "--approval risky") + "); say so in your answer"
}

// instead is what the model is told to do instead, where there is something.
func instead(req agent.ApprovalRequest) string {
	if req.Risk.Hint == "" {
		return ""
	}
	return "\ninstead: " + req.Risk.Hint
}

// ask asks the person at the terminal, until the answer is plain.
func (v *approver) ask(ctx context.Context, req agent.ApprovalRequest) agent.Approval {
	if v.nobody != "" {
		return v.unasked(req, v.nobody)
	}
	if !v.asks.take(ctx) {
		return agent.Approval{}
	}
	defer v.asks.give()
	line, err := v.asks.question(ctx, func(ready func()) func(bool) {
		return v.show(ui.Approval{
			Tool: req.Call.Name, Agent: v.mask(req.Agent), Arguments: v.mask(req.Call.Arguments), Risk: v.mask(req.Risk.Text), Hint: v.mask(req.Risk.Hint),
			Question: fmt.Sprintf("belljar: run it? [y]es, [a]lways (%s), or no and why:", v.moreOf(req)),
		}, ready)
	})
	for err == nil && unclear(line) {
		line, err = v.asks.question(ctx, func(ready func()) func(bool) {
			return v.again("belljar: is that a yes? y or a alone runs it; a no begins with no:", ready)
		})
	}
	switch {
	case errors.Is(err, errBackground), errors.Is(err, errNoInput):
		return v.unasked(req, err.Error())
	case err != nil:
		return agent.Approval{}
	}
	return v.answered(req, line)
}

// moreOf says what calls would run unasked after "always".
func (v *approver) moreOf(req agent.ApprovalRequest) string {
	if req.Risk.Text == "" {
		return "every ordinary " + effectName(req.Effect)
	}
	return "every " + effectName(req.Effect)
}

// unasked denies a call that nobody can be asked about.
func (v *approver) unasked(req agent.ApprovalRequest, why string) agent.Approval {
	kind := effectName(req.Effect)
	text := fmt.Sprintf("nobody can be asked for approval: %s\nthe user wants to be asked about this (--approval %s=%s)", why, kind, v.modes[req.Effect])
	if req.Risk.Text != "" {
		text += "\nsince: " + req.Risk.Text + instead(req)
	}
	return agent.Approval{
		Decision: agent.Denied, By: trajectory.ByNobody,
		Reason: text + "\ndo what can be done without it, and say in the end what is left",
	}
}

// unclear tells an answer that begins like a yes and says more: it may well be
// one, and must not be told to the model as the reason of a no.
func unclear(line string) bool {
	words := strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return !unicode.IsLetter(r) })
	if len(words) == 0 || isYes(line) || isAlways(line) {
		return false
	}
	switch words[0] {
	case "y", "yy", "yes", "yess", "yep", "yeah", "a", "aa", "always", "ok", "okay", "sure", "allow":
		return true
	}
	return false
}

func isYes(line string) bool { return strings.EqualFold(line, "y") || strings.EqualFold(line, "yes") }

func isAlways(line string) bool {
	return strings.EqualFold(line, "a") || strings.EqualFold(line, "always")
}

// answered reads an answer. Whatever is no yes is a no, and says why; where it does
// not, what else there is to do does.
func (v *approver) answered(req agent.ApprovalRequest, line string) agent.Approval {
	switch {
	case isYes(line):
		return agent.Approval{Decision: agent.Allowed, By: trajectory.ByUser}
	case isAlways(line):
		v.agreed[req.Effect] = agreedOrdinary
		if req.Risk.Text != "" {
			v.agreed[req.Effect] = agreedAll
		}
		return agent.Approval{Decision: agent.AllowedAlways, By: trajectory.ByUser}
	}
	text := "the user said no"
	if why := reasonOf(line); why != "" {
		text += ": " + why
	} else {
		text += instead(req)
	}
	return agent.Approval{Decision: agent.Denied, By: trajectory.ByUser, Reason: text}
}

// reasonOf is an answer without the no that it may begin with: "n use make",
// "no, use make", but not "no tests please".
func reasonOf(line string) string {
	word, rest, more := strings.Cut(strings.NewReplacer(",", " ", ":", " ", ";", " ").Replace(line), " ")
	apart := more && line[len(word)] != ' '
	switch word = strings.ToLower(word); {
	case word == "n", word == "no" && (apart || !more):
		return strings.TrimSpace(line[len(line)-len(rest):])
	}
	return line
}
