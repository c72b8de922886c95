package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/belljar/belljar/internal/tripwire"
	"github.com/belljar/belljar/internal/ui"
)

const (
	// shownRisks is how many files a person is told of, jsonRisks a program.
	shownRisks = 20
	jsonRisks  = 1000
)

// lookPatience is after how long a person is told what is waited for, and
// slowLook what.
const (
	lookPatience = 2 * time.Second
	slowLook     = "looking at the files that this machine obeys, before the commands and after them; " +
		"in a folder this large each look takes up to 5 s (a folder further down is faster)"
)

// tellSlow does something, and calls tell where it has not ended after a time.
func tellSlow(after time.Duration, tell func(), do func() error) error {
	done := make(chan error, 1) // one answer, so the sender never waits
	go func() { done <- do() }()
	timer := time.NewTimer(after)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		tell()
		return <-done
	}
}

// risks ends the sandbox, so that nothing works on the folder any more, and
// tells what changed of the files that programs on the host obey; alive where
// it is not sure that nothing does. That failure itself is told by Close.
func (j *jar) risks() (report tripwire.Report, alive bool, err error) {
	ended := j.Sandbox.Close()
	report, err = j.wire.Check()
	if ended != nil {
		report.Gaps = append([]string{fmt.Sprintf(
			"the sandbox may not have ended, so that files may change after the look: %v", ended)}, report.Gaps...)
	}
	return report, ended != nil, err
}

// A riskTeller words what a run changed of the files that programs on the host
// obey.
type riskTeller struct {
	folder string // host path of the workspace
	// save keeps a file's content for putting it back and gives its path.
	save func(change tripwire.Change) (string, error)
	// alive is set where something may still work on the folder.
	alive bool
}

const (
	// riskAdvice follows how many files changed.
	riskAdvice = "look before you use the folder, and start nothing that writes to it before you have put back what you want"
	// gitAdvice is for changes that git obeys.
	gitAdvice = "run no git in the folder before what git obeys is put back: git status is enough to start a program that it names"
)

// lines are what is said about a report, nothing where there is nothing to say.
func (t riskTeller) lines(report tripwire.Report) []string {
	var lines []string
	if n := len(report.Changes); n > 0 {
		lines = append(lines, fmt.Sprintf("%s that programs on this machine run or obey changed; %s:", ui.Plural(n, "file|files"), riskAdvice))
	}
	if slices.ContainsFunc(report.Changes, tripwire.Change.IsGits) {
		lines = append(lines, gitAdvice)
	}
	root, err := os.OpenRoot(t.folder)
	if err == nil {
		defer root.Close()
	}
	for _, change := range report.Changes[:min(len(report.Changes), shownRisks)] {
		lines = append(lines, fmt.Sprintf("%s %s (%s)%s", change.Kind, shownPath(change.Path), change.What, t.remedy(root, change)))
	}
	if n := len(report.Changes) - shownRisks; n > 0 {
		lines = append(lines, fmt.Sprintf("and %s more", ui.Plural(n, "file|files")))
	}
	for _, gap := range report.Gaps {
		lines = append(lines, "looking for changed files that this machine obeys: "+gap)
	}
	return lines
}

// A risksJSON is what exec --json says of the same.
type risksJSON struct {
	Changed []tripwire.Change `json:"changed"`
	// Count counts all; Changed is bounded.
	Count int      `json:"count"`
	Gaps  []string `json:"gaps"`
}

func risksOf(report tripwire.Report) risksJSON {
	return risksJSON{
		Changed: orEmpty(report.Changes[:min(len(report.Changes), jsonRisks)]),
		Count:   len(report.Changes), Gaps: orEmpty(report.Gaps),
	}
}
