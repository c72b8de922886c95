// Package guard is a guard against slips: it reads a shell script before it
// runs and finds what is hardly ever meant, such as the recursive removal of
// the workspace in whatever spelling.
//
// It is no boundary. It understands what shell syntax says, and what a script
// does to the values that it gives its own variables; a program that a script
// runs can do anything. What it does not understand it lets through, for then
// the sandbox is what holds. So the price of being wrong is small in one
// direction only, and ordinary commands must pass.
package guard

import (
	"context"
	"fmt"
	"time"
)

// Place is where a script would run. Paths are those inside the sandbox.
type Place struct {
	// Workspace is the workspace's folder; "" is none.
	Workspace string
	// Home is the home folder of the commands.
	Home string
	// Dir is the folder that the script starts in; "" is not known.
	Dir string
	// Env holds variables that the script finds, each as NAME=VALUE. There may
	// be others. Only of those that hold a path is the value looked at.
	Env []string
	// Mask takes what is secret out of a text that is shown; nil is nothing.
	Mask func(string) string
}

// A Kind is what a script would do.
type Kind string

// The kinds of findings.
const (
	Removal     Kind = "removal"     // everything in a folder that matters
	Permissions Kind = "permissions" // of the whole system
	Device      Kind = "device"      // a disk is written to, or a file's content destroyed for good
	Download    Kind = "download"    // what comes from the network is run unseen
	ForkBomb    Kind = "fork_bomb"   // a function that starts itself without end
)

// A Finding is what a script would do that is hardly ever meant.
type Finding struct {
	Kind Kind
	// Line is the line of the script, from 1.
	Line int
	// Text says what would happen, in one line.
	Text string
	// Hint says what to do instead; it may be empty.
	Hint string
}

// Bounds of one look at a script. What lies beyond is not looked at.
const (
	// maxTime ends a look where the other bounds do not, as for what the parser
	// is slow with. An ordinary script takes microseconds, and one of a megabyte
	// a second or two at most on an idle machine.
	maxTime = 10 * time.Second
	// maxSteps bounds the statements and the parts of words that are gone through,
	// those of loops and functions each time; a script adds eight for each of its
	// bytes.
	maxSteps = 1 << 17
	// stepText is how many characters that are looked at are a step.
	stepText = 64
	// maxTexts bounds the characters of all values and outputs together, and so the
	// memory, to some tens of megabytes; a script adds eight for each of its bytes.
	maxTexts = 1 << 23
	// maxNested bounds scripts within scripts (sh -c) and calls of functions.
	maxNested = 12
	// maxDepth bounds statements within statements.
	maxDepth = 2000
	// maxFields bounds what one word, or one loop, comes to.
	maxFields = 64
	// maxText bounds a value, in characters.
	maxText = 1 << 16
	// maxName bounds the name of a variable of which something is known.
	maxName = 128
)

// Check looks at a script for bash and tells the first thing in it that is
// hardly ever meant. A script that has no proper syntax is looked at up to where
// it is wrong, which is as far as a shell runs it; when the context ends, the look
// does. The error is a look that broke down before it found anything, which is a
// fault of the guard's: nothing is known of the script then. Safe for concurrent
// use.
func Check(ctx context.Context, script string, place Place) (finding Finding, ok bool, err error) {
	l := &look{
		ctx: ctx, place: place, guarded: place.guarded(), steps: maxSteps + 8*len(script), texts: maxTexts + 8*len(script), until: time.Now().Add(maxTime),
		marks: map[string]rune{},
	}
	defer func() {
		v := recover()
		switch {
		case l.found != nil: // what came after it does not count
			finding, ok = *l.found, true
		case v != nil:
			err = fmt.Errorf("looking at a script: the guard broke down (%v)", v)
		}
	}()
	st := newState(place)
	l.script(st, script)
	l.end(st)
	return Finding{}, false, nil
}

// A look is one look at a script.
type look struct {
	ctx     context.Context
	place   Place
	guarded []guarded
	steps   int
	texts   int // characters that values may still come to
	until   time.Time
	depth   int             // statements within statements
	nested  int             // scripts within scripts, and functions
	line    int             // of the statement at the top
	unset   []string        // the names of variables that were not set
	sets    []set           // of characters, in brackets
	marks   map[string]rune // the mark of each name and set
	found   *Finding
}

// over tells whether the look is at its end, and takes a step.
func (l *look) over() bool { return l.spend(1) }

func (l *look) spend(steps int) bool {
	const often = 1 << 10
	if l.steps/often != (l.steps-steps)/often && late(l.ctx, l.until) {
		l.steps = 0
	}
	l.steps -= steps
	return l.steps <= 0 || l.found != nil
}

// spendText takes a step for so many characters of a value.
func (l *look) spendText(chars int) {
	if l.texts -= chars; l.texts <= 0 {
		l.steps = 0
	}
	l.spend(1 + chars/stepText)
}

// report keeps the first finding.
func (l *look) report(kind Kind, hint, format string, args ...any) {
	if l.found == nil {
		l.found = &Finding{Kind: kind, Line: max(l.line, 1), Text: fmt.Sprintf(format, args...), Hint: hint}
	}
}
