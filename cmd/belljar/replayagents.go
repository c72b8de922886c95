package main

import (
	"context"
	"errors"
	"sync"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/replay"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

// replayAgents run the calls of each agent of a run with tools of its own: its
// working directory, its jobs, and what it knows of files.
type replayAgents struct {
	job      *job
	manifest trajectory.Manifest

	mu       sync.Mutex
	byParent map[string]*replayAgent
}

// A replayAgent is what one agent has of its own.
type replayAgent struct {
	caller  *agent.Caller
	jobs    *tools.Jobs
	lacking map[string]bool
}

var _ replay.Caller = (*replayAgents)(nil)

// Call runs a call of the agent below parent.
func (a *replayAgents) Call(ctx context.Context, parent string, call trajectory.ToolCall) (trajectory.ToolResult, error) {
	of, err := a.of(parent)
	if err != nil {
		return trajectory.ToolResult{}, err
	}
	return of.caller.Call(ctx, call)
}

// of is the agent below parent, which is made at its first call.
func (a *replayAgents) of(parent string) (*replayAgent, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if of := a.byParent[parent]; of != nil {
		return of, nil
	}
	jobs := a.job.newJobs()
	registry, lacking, err := a.job.replayTools(a.manifest, parent, jobs)
	if err != nil {
		return nil, err
	}
	caller, err := agent.NewCaller(agent.Options{
		Tools: registry, NewOutput: a.job.outputs.open, Images: a.job.opts.images, Mask: a.job.masker.Mask,
	})
	if err != nil {
		return nil, err
	}
	if a.byParent == nil {
		a.byParent = make(map[string]*replayAgent)
	}
	a.byParent[parent] = &replayAgent{caller, jobs, lacking}
	return a.byParent[parent], nil
}

// lacks tells whether a tool that the agent below parent had cannot be had.
func (a *replayAgents) lacks(parent, name string) bool {
	of, err := a.of(parent)
	return err == nil && of.lacking[name] // and where it cannot be made, Call says why
}

// end ends what the agent below parent left running, as its end in the run did.
func (a *replayAgents) end(parent string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	of := a.byParent[parent]
	if of == nil {
		return nil
	}
	delete(a.byParent, parent)
	return of.jobs.Close()
}

// close ends what all agents left running.
func (a *replayAgents) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for _, of := range a.byParent {
		errs = append(errs, of.jobs.Close())
	}
	a.byParent = nil
	return errors.Join(errs...)
}
