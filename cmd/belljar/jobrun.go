package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/oneline"
	"github.com/belljar/belljar/internal/ui"
	"github.com/belljar/belljar/tools"
)

// run runs the agent and says how it ended.
func (j *job) run(ctx context.Context) error {
	registry, err := j.registry()
	if err != nil {
		return err
	}
	if err := j.recordTools(registry.Definitions()); err != nil {
		return err
	}
	system, err := j.systemPrompt(false)
	if err != nil {
		return err
	}
	need, err := fixedTokens(system, registry.Definitions())
	if err != nil {
		return err
	}
	opening := j.startWindow(need)
	info := j.jar.Info()
	worker, err := agent.New(agent.Options{
		Model: j.model, Tools: registry, Recorder: j.record, System: system,
		Start: trajectory.Start{
			Session: j.session.ID, Image: trajectory.Image(info.Image), Engine: info.Engine, Limits: limitsOf(info.Limits),
		},
		NewOutput: j.outputs.open,
		OnText:    func(piece string) { j.screen.Text(j.masker.Mask(piece)) },
		Approve:   j.approver().decide,
		Opening:   opening,
		Closing: func() []trajectory.Notice {
			return append(j.takeWindow(need, j.search.atEnd()), closingOf(j.jobs, "run")()...)
		},
		BeforeEnd: j.settle,
		Images:    j.opts.images,
		MaxTurns:  int(j.opts.maxTurns), MaxTime: j.opts.maxTime, MaxTokens: int(j.opts.maxTokens),
		MaxRequests: int(j.opts.maxRequests), MaxCost: j.opts.maxCost, Price: j.model.price.price,
		Retry:         model.RetryPolicy{MaxWait: j.opts.maxWait},
		ContextWindow: j.model.window.tokens, FindWindow: func() int { return j.findWindow(need) }, Mask: j.masker.Mask, Outputs: outputsPoint,
	})
	if err != nil {
		return err
	}
	result, err := worker.Run(ctx, j.task)
	if gone := j.mirror.failure(); gone != nil && !errors.Is(err, gone) {
		err = oneline.Join(err, gone)
	}
	j.screen.Totals(ui.Totals{
		Stop: stopText(result.Stop), Good: result.Stop == agent.StopFinished, Turns: result.Turns,
		Usage: result.Total(), Waits: result.Waits, Waited: result.Waited, Took: result.Duration,
		Again: j.again(),
	})
	// Everything is given back before the answer is printed, so that whoever
	// reads it finds nothing left.
	if err := errors.Join(err, j.close()); err != nil {
		// An answer that is there is not kept back for what failed after it.
		return errors.Join(j.failed(result.Stop, err), j.printFinal(result))
	}
	if err := j.printFinal(result); err != nil {
		return err
	}
	if code := stopCode(result.Stop); code != exitOK {
		if j.opts.quiet && !j.opts.json {
			j.app.noticeWhole(stopText(result.Stop) + "; " + j.again())
		}
		return &outcome{code}
	}
	return nil
}

// closingOf tells which background jobs end with what started them: the run, or a
// sub-agent.
func closingOf(jobs *tools.Jobs, whose string) func() []trajectory.Notice {
	return func() []trajectory.Notice {
		running := jobs.Running()
		if len(running) == 0 {
			return nil
		}
		return []trajectory.Notice{{
			Kind: trajectory.NoticeJobs,
			Text: "background jobs that still ran ended with the " + whose + ": " + strings.Join(running, ", "),
		}}
	}
}

// failed says what went wrong, where the exit code tells more than that
// something did.
func (j *job) failed(stop agent.Stop, err error) error {
	switch {
	case stop == agent.StopModel, stop == agent.StopRefused, stop == agent.StopMaxContext, errors.Is(err, model.ErrNoTime):
		j.app.notice("%s", j.masker.Mask(err.Error()))
		return &outcome{stopCode(stop)}
	default:
		return err
	}
}

// printFinal prints the model's answer on stdout, unless a person has read it
// there as it came.
func (j *job) printFinal(result agent.Outcome) error {
	if j.opts.json || result.Stop != agent.StopFinished {
		return nil
	}
	final := j.masker.Mask(result.Final)
	stdout, stderr := ui.Detect(j.app.stdout, j.app.getenv), ui.Detect(j.app.stderr, j.app.getenv)
	if stdout.Terminal {
		if stderr.Terminal && !j.opts.quiet && j.screen.Spoke(final) {
			return nil
		}
		final = ui.Sanitize(final)
	}
	_, err := fmt.Fprintln(j.app.out(), final)
	return err
}

// systemPrompt tells the model about its sandbox, as the run's agent or as a
// sub-agent.
func (j *job) systemPrompt(sub bool) (string, error) {
	info := j.jar.Info()
	hosts, injections := j.gate.rules()
	timeout := cmp.Or(j.opts.timeout, tools.DefaultTimeout)
	if j.opts.maxTimeout > 0 {
		timeout = min(timeout, j.opts.maxTimeout)
	}
	readOnly, writable := targets(j.userMounts())
	return agent.SystemPrompt(agent.PromptData{
		ReadOnly: readOnly, Writable: writable,
		MountPoint: info.MountPoint, Shell: info.Shell, User: info.User, SystemWritable: j.spec.OwnSystem(), Network: string(info.Network),
		Hosts: hosts, Injections: injections,
		Memory: info.Limits.Memory, CPUs: info.Limits.CPUs, Pids: info.Limits.Pids,
		Timeout: timeout, MaxTimeout: cmp.Or(j.opts.maxTimeout, tools.DefaultMaxTimeout),
		Instructions: j.agents, SubAgent: sub,
	})
}
