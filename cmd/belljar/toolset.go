package main

import (
	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/tools"
)

// builtinTools are the tools over a sandbox, its folder and its jobs.
func builtinTools(sb sandbox.Sandbox, folder *workspace.Workspace, jobs *tools.Jobs, opts tools.BashOptions) ([]tools.Tool, error) {
	opts.Jobs = jobs
	bash, err := tools.NewBash(sb, opts)
	if err != nil {
		return nil, err
	}
	seen := new(tools.Seen)
	return []tools.Tool{
		bash, tools.NewBashOutput(jobs), tools.NewBashKill(jobs),
		tools.NewReadFile(folder, seen), tools.NewWriteFile(folder, seen), tools.NewEditFile(folder, seen),
		tools.NewApplyPatch(folder, seen),
		tools.NewGlob(folder), tools.NewGrep(folder),
	}, nil
}

// newRegistry makes the set of some tools.
func newRegistry(list []tools.Tool) (*tools.Registry, error) {
	registry := new(tools.Registry)
	for _, tool := range list {
		if err := registry.Register(tool); err != nil {
			return nil, err
		}
	}
	return registry, nil
}
