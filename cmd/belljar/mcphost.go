package main

import (
	"context"
	"errors"
	"sync"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/internal/mcp"
	"github.com/belljar/belljar/tools"
)

// An mcpHost is one client's sandbox with the tools over it.
type mcpHost struct {
	plan      *mcpPlan
	jar       *jar
	registry  *tools.Registry
	log       *networkLog
	closers   []func() error // in the order of opening
	closeOnce sync.Once
	closeErr  error
}

var _ mcp.Host = (*mcpHost)(nil)

// open starts a sandbox. Talk of an image that has to be built first goes to
// stderr.
func (p *mcpPlan) open(ctx context.Context) (_ *mcpHost, err error) {
	h := &mcpHost{plan: p, log: &networkLog{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.giveBack())
		}
	}()
	out, err := p.app.openGate(&p.opts.networkFlags, h.log, nil)
	if err != nil {
		return nil, err
	}
	h.closers = append(h.closers, out.Close)
	spec := p.spec
	out.fill(&spec)
	p.app.leadOut(out, &spec)
	spec.Env = append(tools.BashEnv(), spec.Env...)
	spec.Notify = func(text string) { p.app.notice("%s", text) }
	if h.jar, err = p.app.open(ctx, &p.opts.sandboxFlags, spec, p.app.stderr); err != nil {
		return nil, err
	}
	h.closers = append(h.closers, h.jar.Close)
	folder, err := p.openFolder(h.jar.Info())
	if err != nil {
		return nil, err
	}
	jobs := tools.NewJobs(h.jar, tools.JobsOptions{Mask: p.masker.Mask})
	// The sandbox is closed before these, which ends all jobs and calls at once.
	h.closers = append([]func() error{folder.Close, jobs.Close}, h.closers...)
	h.registry, err = p.registry(h.jar, folder, jobs)
	return h, err
}

// Call runs a call, unless it is one that nobody means or that a person would
// have to be asked about.
func (h *mcpHost) Call(ctx context.Context, call mcp.Call) (tools.Result, error) {
	effect, known := h.registry.Effect(call.Name)
	risk, runs := h.registry.Assess(ctx, call.Name, call.Arguments)
	if known && runs {
		a := h.approver().decide(ctx, agent.ApprovalRequest{
			Call: model.ToolCall{Name: call.Name, Arguments: string(call.Arguments)}, Effect: effect, Risk: risk,
		})
		if a.Decision == agent.Denied {
			return tools.Error("not run: " + a.Reason), nil
		}
	}
	return h.registry.ExecuteTo(ctx, call.Name, call.Arguments, call.Output)
}

// approver decides by the settings alone. It is made for each call, since calls
// run beside each other.
func (h *mcpHost) approver() *approver {
	return &approver{
		modes: h.plan.opts.approval, guard: h.plan.opts.guard, mask: h.plan.masker.Mask,
		nobody: "a server of MCP clients asks nothing", lifted: "--guard=false",
	}
}

// Close removes the sandbox, and says what a person should know of what ran in
// it.
func (h *mcpHost) Close() error {
	h.closeOnce.Do(func() {
		h.closeErr = h.giveBack()
		risks, err := h.jar.wire.Check()
		h.closeErr = errors.Join(h.closeErr, err)
		for _, line := range (riskTeller{folder: h.plan.spec.Workspace}).lines(risks) {
			h.plan.app.noticeWhole(line)
		}
		for _, line := range h.log.lines() {
			h.plan.app.notice("%s", line)
		}
	})
	return h.closeErr
}

// giveBack closes what was opened, the last first.
func (h *mcpHost) giveBack() error {
	var errs []error
	for i := len(h.closers) - 1; i >= 0; i-- {
		errs = append(errs, h.closers[i]())
	}
	return errors.Join(errs...)
}
