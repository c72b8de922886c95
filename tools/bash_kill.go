package tools

import (
	"context"
	"encoding/json"
)

type bashKill struct {
	jobs *Jobs
	def  Definition
}

var _ Tool = (*bashKill)(nil)

// NewBashKill makes the tool that ends background jobs.
func NewBashKill(jobs *Jobs) Tool {
	return &bashKill{jobs: jobs, def: Definition{
		Name:        "bash_kill",
		Description: describe("bash_kill", nil),
		Schema:      object(1, field{"job", "string", "The job's id, as bash gave it."}),
		Effect:      Execute,
	}}
}

func (t *bashKill) Definition() Definition { return t.def }

func (t *bashKill) Execute(ctx context.Context, args json.RawMessage) (Result, error) {
	var in struct {
		Job string `json:"job"`
	}
	if err := decode(args, &in); err != nil {
		return Error(err.Error()), nil
	}
	job, err := t.jobs.find(in.Job)
	if err != nil {
		return Error(err.Error()), nil
	}
	before := job.ended()
	job.cancel()
	select {
	case <-job.done:
	case <-ctx.Done():
		return canceled(), nil
	}
	t.jobs.tell(job)
	did := fixed("nothing was left to end")
	if !before {
		did = notef("ended %s", job.name())
	}
	lines := append(job.lines(), fixed("bash_output shows what it wrote last"))
	res := bracketed(did, append(lines, t.jobs.news()...))
	res.IsError = job.err != nil
	return res, nil
}
