package main

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/tripwire"
)

// originals is the folder of a session with the content of changed files as it
// was before the run.
const originals = "originals"

// settle removes the sandbox, so that nothing works on the folder any more, and
// records what changed of the files that programs on the host obey.
func (j *job) settle() error {
	// A failure is told when the job is closed; the look is worth it all the
	// same.
	_ = j.jar.Close()
	report, err := j.jar.wire.Check()
	if err != nil {
		return err
	}
	saved := 0
	teller := riskTeller{folder: j.spec.Workspace, save: func(change tripwire.Change) (string, error) {
		saved++
		return j.keep(strconv.Itoa(saved), change)
	}}
	var failed error
	for _, line := range teller.lines(report) {
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

// keep writes what a file held before the run to the session. The name is not
// the file's own, which is not to be trusted.
func (j *job) keep(name string, change tripwire.Change) (string, error) {
	dir := filepath.Join(j.session.Dir, originals)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, change.Original, 0o600); err != nil {
		return "", err
	}
	return file, os.Chmod(file, change.Was.Perm())
}
