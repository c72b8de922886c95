package main

import (
	"os"
	"os/exec"
	"strings"
)

// again is the command that shows the run again, as it can be given to a shell
// in this folder.
func (j *job) again() string {
	command := j.app.program() + " show " + nameFor(j.state, j.session.ID)
	if j.app.getenv(stateVariable) != "" {
		// The variable may have been set for this run alone.
		command = stateVariable + "=" + shellWord(j.state) + " " + command
	}
	return command
}

// stateVariable names the folder of the records.
const stateVariable = "BELLJAR_STATE_DIR"

// program is how this program is called: by its name where that finds it.
func (a *app) program() string {
	const name = "belljar"
	if !strings.ContainsRune(a.called, os.PathSeparator) {
		return name
	}
	if found, err := exec.LookPath(name); err == nil && isSameFile(found, a.called) {
		return name
	}
	return shellWord(a.called)
}

// isSameFile tells whether two paths lead to one file.
func isSameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// shellWord is a text as one word of a shell, in quotes where it needs them.
func shellWord(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%,", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return shellQuote(text)
}
