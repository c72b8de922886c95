package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/sandbox"
)

// MaxWait is the longest time that one call of bash_output waits.
const MaxWait = 600 * time.Second

type bashOutput struct {
	jobs *Jobs
	def  Definition
}

var _ Tool = (*bashOutput)(nil)

// NewBashOutput makes the tool that reads what background jobs write. Each
// call gives what came since the last one.
func NewBashOutput(jobs *Jobs) Tool {
	return &bashOutput{jobs: jobs, def: Definition{
		Name: "bash_output",
		Description: describe("bash_output", map[string]string{
			"Shown": output.Count(ShownOutput, "character"), "MaxWait": seconds(MaxWait),
		}),
		Schema: object(1,
			field{"job", "string", "The job's id, as bash gave it."},
			field{"wait_seconds", "number", fmt.Sprintf("Wait up to this many seconds for the job to end, at most %s. Without it the call returns at once.", seconds(MaxWait))},
		),
		Effect: Read, Once: true,
	}}
}

func (t *bashOutput) Definition() Definition { return t.def }

func (t *bashOutput) Execute(ctx context.Context, args json.RawMessage) (Result, error) {
	var in struct {
		Job  string  `json:"job"`
		Wait float64 `json:"wait_seconds"`
	}
	if err := decode(args, &in); err != nil {
		return Error(err.Error()), nil
	}
	if in.Wait < 0 {
		return Error("wait_seconds must not be negative; leave it out to wait for nothing"), nil
	}
	job, err := t.jobs.find(in.Job)
	if err != nil {
		return Error(err.Error()), nil
	}
	longest := in.Wait > MaxWait.Seconds()
	wait := time.Duration(min(in.Wait, MaxWait.Seconds()) * float64(time.Second))
	if !awaitEnd(ctx, job, wait) {
		return canceled(), nil
	}
	res := t.read(job)
	if longest {
		res.Parts[0].Text += fmt.Sprintf("\n[wait_seconds was more than the largest: %s s were used]", seconds(MaxWait))
	}
	return res, nil
}

// awaitEnd waits until a job has ended or the time is over; false means that
// the context was done.
func awaitEnd(ctx context.Context, job *job, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-job.done:
	case <-timer.C:
	case <-ctx.Done():
		return false
	}
	return true
}

// read tells what the job wrote since the last time, and how it does.
func (t *bashOutput) read(job *job) Result {
	// Asked first: what is taken of a job that has ended is all of the rest.
	ended := job.ended()
	text, kept := job.log.take()
	if !ended {
		res := bracketed(fixed(text), append([]note{job.running()}, kept...))
		res.Status = StatusRunning
		return res
	}
	t.jobs.tell(job)
	res := bracketed(fixed(text), append(job.lines(), kept...))
	if job.err != nil {
		res.IsError = true
		if job.renewed() {
			res.Status = statusLost
		}
		return res
	}
	res.Status, res.ExitCode = string(job.result.Status), job.result.ExitCode
	// To be ended is what was asked for, and no fault.
	res.IsError = job.result.Status != sandbox.Exited && job.result.Status != sandbox.Canceled
	return res
}
