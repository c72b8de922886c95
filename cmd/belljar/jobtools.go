package main

import (
	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/tools"
)

// registry makes the set of tools of the run's agent.
func (j *job) registry() (*tools.Registry, error) {
	subAgents, err := agent.NewSubAgents(agent.SubOptions{
		New: j.newSubAgent, MaxTurns: int(j.opts.maxTurns),
	})
	if err != nil {
		return nil, err
	}
	registry, err := j.agentTools(j.jobs)
	if err != nil {
		return nil, err
	}
	if err := registry.Register(subAgents); err != nil {
		return nil, err
	}
	return registry, j.addCustom(registry)
}

// agentTools makes the tools that each agent has of its own: a working directory,
// background jobs, what it knows of files, and a list of tasks.
func (j *job) agentTools(jobs *tools.Jobs) (*tools.Registry, error) {
	list, err := j.toolList(jobs)
	if err != nil {
		return nil, err
	}
	return newRegistry(list)
}

// toolList are the same as a list.
func (j *job) toolList(jobs *tools.Jobs) ([]tools.Tool, error) {
	list, err := builtinTools(j.jar, j.folder, jobs, tools.BashOptions{
		Timeout: j.opts.timeout, MaxTimeout: j.opts.maxTimeout, Mask: j.masker.Mask, Guarded: j.opts.guard,
	})
	return append(list, tools.NewTodo()), err
}

// newJobs makes what runs in the background for one agent.
func (j *job) newJobs() *tools.Jobs {
	return tools.NewJobs(j.jar, tools.JobsOptions{Keep: j.outputs.keep, Mask: j.masker.Mask})
}

// newSubAgent makes what a sub-agent has of its own.
func (j *job) newSubAgent() (agent.SubAgent, error) {
	jobs := j.newJobs()
	registry, err := j.agentTools(jobs)
	if err != nil {
		return agent.SubAgent{}, err
	}
	if err := j.addCustom(registry); err != nil {
		return agent.SubAgent{}, err
	}
	system, err := j.systemPrompt(true)
	if err != nil {
		return agent.SubAgent{}, err
	}
	return agent.SubAgent{Tools: registry, System: system, Closing: closingOf(jobs, "sub-agent"), Close: jobs.Close}, nil
}
