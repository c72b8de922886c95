package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/mcp"
	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/tools"
)

// An mcpPlan is what every client gets, checked as far as that needs no engine.
type mcpPlan struct {
	app         *app
	opts        *mcpOptions
	spec        sandbox.Spec
	config      config   // with the user's own tools
	hosts       []string // that may be reached
	masker      *trajectory.Masker
	definitions []tools.Definition
}

// planMCP checks the command line, and describes the tools of sandboxes that do
// not stand yet.
func (a *app) planMCP(opts *mcpOptions) (*mcpPlan, error) {
	gate, err := a.openGate(&opts.networkFlags, &networkLog{}, nil)
	if err != nil {
		return nil, err
	}
	defer gate.Close()
	p := &mcpPlan{app: a, opts: opts}
	p.hosts, _ = gate.rules()
	if p.spec, err = a.place(&opts.sandboxFlags); err != nil {
		return nil, err
	}
	if p.config, err = a.readConfig(opts.config, &p.spec); err != nil {
		return nil, err
	}
	if _, err := trajectory.StateDir(); err == nil { // who has none has no records
		if _, err := stateDirFor(p.spec.Workspace, p.spec.Mounts); err != nil {
			return nil, err
		}
	}
	secrets := append(a.secrets("", p.spec.Env), gate.hidden()...)
	p.masker = trajectory.NewMasker(append(secrets, a.getenv(tokenVariable))...)
	p.definitions, err = p.describe()
	return p, err
}

// describe describes the tools as they will be.
func (p *mcpPlan) describe() ([]tools.Definition, error) {
	protection, err := p.app.protection(p.spec)
	if err != nil {
		return nil, err
	}
	planned := plannedSandbox{sandbox.Info{MountPoint: sandbox.MountPoint, Mounts: p.spec.Mounts, Protected: protection}}
	folder, err := p.openFolder(planned.info)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	registry, err := p.registry(planned, folder, tools.NewJobs(planned, tools.JobsOptions{}))
	if err != nil {
		return nil, err
	}
	return registry.Definitions(), nil
}

// registry makes the tools over a sandbox.
func (p *mcpPlan) registry(sb sandbox.Sandbox, folder *workspace.Workspace, jobs *tools.Jobs) (*tools.Registry, error) {
	list, err := builtinTools(sb, folder, jobs, p.bashOptions())
	if err != nil {
		return nil, err
	}
	registry, err := newRegistry(list)
	if err != nil {
		return nil, err
	}
	return registry, p.config.register(registry, sb, p.opts.timeout, p.opts.maxTimeout)
}

// openFolder opens what the file tools work on beside a sandbox.
func (p *mcpPlan) openFolder(info sandbox.Info) (*workspace.Workspace, error) {
	folder, err := workspace.Open(p.spec.Workspace, info.MountPoint, p.spec.Owner)
	if err != nil {
		return nil, err
	}
	for _, m := range info.Mounts {
		if err := folder.Add(m); err != nil {
			_ = folder.Close() // nothing was done with it
			return nil, err
		}
	}
	folder.Protect(info.Protected)
	return folder, nil
}

func (p *mcpPlan) bashOptions() tools.BashOptions {
	return tools.BashOptions{Timeout: p.opts.timeout, MaxTimeout: p.opts.maxTimeout, Mask: p.masker.Mask, Guarded: p.opts.guard}
}

// openWorld tells whether commands reach more than this machine.
func (p *mcpPlan) openWorld() bool { return p.spec.Network != sandbox.NetworkNone }

// instructions tell the client's model where it is.
func (p *mcpPlan) instructions() string {
	lines := []string{fmt.Sprintf("These tools work on a folder of the user's, which they see at %s. "+
		"Commands run in a sandbox: they see that folder and a Linux system of their own, and nothing else of the user's machine.", sandbox.MountPoint)}
	switch p.spec.Network {
	case sandbox.NetworkNone:
		lines = append(lines, "There is no network.")
	case sandbox.NetworkAllow:
		lines = append(lines, "Of the network only these hosts can be reached: "+strings.Join(p.hosts, ", ")+".")
	}
	lines = append(lines, "Files outside "+sandbox.MountPoint+" are gone when the session ends.")
	return strings.Join(lines, "\n")
}

// start starts a client's sandbox.
func (p *mcpPlan) start(ctx context.Context) (mcp.Host, error) { return p.open(ctx) }

// A plannedSandbox is one that does not stand yet. It runs nothing.
type plannedSandbox struct{ info sandbox.Info }

var _ sandbox.Sandbox = plannedSandbox{}

func (s plannedSandbox) Info() sandbox.Info { return s.info }

func (plannedSandbox) Exec(context.Context, sandbox.Command) (sandbox.Result, error) {
	return sandbox.Result{}, sandbox.ErrClosed
}

func (plannedSandbox) Close() error { return nil }
