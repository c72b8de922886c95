package main

import (
	"os"
	"path/filepath"

	"github.com/belljar/belljar/agent/trajectory"
)

// settle removes the sandbox, so that nothing works on the folder any more, and
// records what changed of the files that programs on the host obey.
func (j *job) settle() error {
	report, alive, err := j.jar.risks()
	// A failure is told when the job is closed; the look is worth it all the
	// same.
	_ = j.jar.Close()
	if err != nil {
		return err
	}
	kept := &keeper{folder: func() (string, error) {
		dir := filepath.Join(j.session.Dir, originals)
		return dir, os.MkdirAll(dir, 0o700)
	}}
	var failed error
	for _, line := range (riskTeller{folder: j.spec.Workspace, save: kept.keep, alive: alive}).lines(report) {
		if failed == nil {
			failed = j.record.Record(trajectory.Notice{Kind: trajectory.NoticeHostRisk, Text: line})
		}
		// Nobody reads the record of a quiet run unless there is a reason, and
		// one that cannot be written tells nobody.
		if failed != nil || j.opts.quiet && !j.opts.json {
			j.app.noticeWhole(line)
		}
	}
	return failed
}
