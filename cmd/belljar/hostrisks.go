package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

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

// A riskTeller words what a run changed of the files that programs on the host
// obey.
type riskTeller struct {
	folder string // host path of the workspace
	// save keeps a file's content for putting it back and gives its path; nil
	// where there is no place for it.
	save func(change tripwire.Change) (string, error)
}

// lines are what is said about a report, nothing where there is nothing to say.
func (t riskTeller) lines(report tripwire.Report) []string {
	var lines []string
	if n := len(report.Changes); n > 0 {
		lines = append(lines, fmt.Sprintf("%s that programs on this machine run or obey changed; look before you use the folder:",
			ui.Plural(n, "file|files")))
	}
	for _, change := range report.Changes[:min(len(report.Changes), shownRisks)] {
		lines = append(lines, fmt.Sprintf("%s %s (%s)%s", change.Kind, shownPath(change.Path), change.What, t.remedy(change)))
	}
	if n := len(report.Changes) - shownRisks; n > 0 {
		lines = append(lines, fmt.Sprintf("and %s more", ui.Plural(n, "file|files")))
	}
	for _, gap := range report.Gaps {
		lines = append(lines, "looking for changed files that this machine obeys: "+gap)
	}
	return lines
}

// remedy says how a change is undone. A name that a terminal would not show as
// it is gets no command.
func (t riskTeller) remedy(change tripwire.Change) string {
	if strings.ContainsFunc(change.Path, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return ""
	}
	target := shellQuote(filepath.Join(t.folder, filepath.FromSlash(change.Path)))
	switch {
	case change.Kind == tripwire.Added:
		return "; to remove it: rm -- " + target
	case change.Kind == tripwire.Obeyed:
		return "; what makes it so is new or changed, and the file itself may have been there before"
	case change.Kind == tripwire.Mode:
		return fmt.Sprintf("; to put it back: chmod %o -- %s", change.Was.Perm(), target)
	case change.Original != nil && t.save != nil:
		saved, err := t.save(change)
		if err != nil {
			return fmt.Sprintf("; it could not be kept: %s", ui.Line(err.Error()))
		}
		return "; to put it back: rm -rf -- " + target + " && cp -p -- " + shellQuote(saved) + " " + target
	case isInRepository(change.Path):
		return "; to put it back: only from a copy of your own"
	default:
		return "; if git knows the file: git -C " + shellQuote(t.folder) + " -c core.hooksPath=/dev/null checkout -- " + shellQuote(change.Path)
	}
}

// isInRepository tells whether a path lies in a repository's own folder, which
// git does not keep versions of.
func isInRepository(name string) bool {
	return strings.Contains("/"+name+"/", "/.git/")
}

// shownPath is a path of untrusted content in a line.
func shownPath(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' }) {
		return strconv.QuoteToGraphic(name)
	}
	return name
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
