package main

import (
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/renew"
)

// The values of --on-lost. What a run has done so far is in the workspace, so
// by default it goes on.
const (
	onLostRecreate = "recreate"
	onLostStop     = "stop"
)

// checkOnLost checks --on-lost.
func (o *runOptions) checkOnLost() error {
	switch o.onLost {
	case onLostRecreate, onLostStop:
		return nil
	default:
		return usagef("--on-lost %q is not known; it is %s or %s", o.onLost, onLostRecreate, onLostStop)
	}
}

// renewing has the job's sandbox replaced when it is lost, unless the run is to
// stop then. Each time is put on record.
func (j *job) renewing() {
	if j.opts.onLost == onLostStop {
		return
	}
	// As it was really started: what the first one protects the next one does.
	spec := j.spec
	spec.Protect = j.jar.Info().Protected
	j.jar.Sandbox = renew.New(j.jar.Sandbox, j.jar.engine, spec, renew.Options{
		OnRenew: func(renewed *sandbox.RenewedError) error {
			return j.record.Record(trajectory.Notice{Kind: trajectory.NoticeRenewed, Text: renewed.Error()})
		},
	})
}
