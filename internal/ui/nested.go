package ui

import (
	"strings"

	"github.com/belljar/belljar/agent/trajectory"
)

const (
	// nestedBar stands before each line of what a sub-agent does, so that a
	// person sees whose it is.
	nestedBar = "  ┃"
	// nestedWidth is the columns of the bar and the space behind it.
	nestedWidth = 4
	// leastWidth is the least columns that are left for what it does.
	leastWidth = 20
)

// A subScreen shows the events of one sub-agent below the call that started it.
// It is used with the lock of the screen that it is on.
type subScreen struct {
	*Renderer
	parent string // the id of the call
}

// nested shows an event of a sub-agent.
func (r *Renderer) nested(event trajectory.Nested) {
	r.endText()
	if r.sub == nil || r.sub.parent != event.Parent {
		r.sub = r.openSub(event.Parent)
	}
	r.sub.opts.Width = max(r.width()-nestedWidth, leastWidth)
	_ = r.sub.Record(event.Body) // a screen never fails
	if _, ended := event.Body.(trajectory.End); ended {
		r.sub = nil
	}
	r.afterRun = true
}

// openSub makes the screen of a sub-agent. Its answer is the result of the call,
// so it is shown there, unless everything is to be shown.
func (r *Renderer) openSub(parent string) *subScreen {
	opts := r.opts
	opts.Terminal.Live = false // the screen that it is on has the live line
	opts.FinalElsewhere = !opts.Whole
	return &subScreen{NewRenderer(&barred{screen: r, atStart: true}, opts), parent}
}

// A barred writer puts the bar before each line and writes on a screen whose lock
// is held.
type barred struct {
	screen  *Renderer
	atStart bool // of a line
}

// Write implements io.Writer; it never fails.
func (b *barred) Write(p []byte) (int, error) {
	b.screen.erase()
	bar := b.screen.paint(faint, nestedBar)
	for line := range strings.Lines(string(p)) {
		switch {
		case b.atStart && line == "\n":
			b.screen.write(bar)
		case b.atStart:
			b.screen.write(bar + " ")
		}
		b.screen.write(line)
		b.atStart = strings.HasSuffix(line, "\n")
	}
	return len(p), nil
}
