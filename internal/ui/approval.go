package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/belljar/belljar/agent/trajectory"
)

// Bounds of what is shown of a call that somebody is to approve. What is left
// out is said, so that nobody agrees to what does not stand there unawares.
const (
	approvalHeadRows = 60 // of the screen
	approvalTailRows = 20
	approvalLine     = 2000 // characters of one line
)

// An Approval is a call that a person is asked about.
type Approval struct {
	// Tool and Arguments are the call's.
	Tool, Arguments string
	// Agent is the task of the sub-agent that makes the call; "" where the run
	// itself does.
	Agent string
	// Risk says what is out of the ordinary about it, and Hint what the model is
	// told to do instead; they may be empty.
	Risk, Hint string
	// Question is what is asked.
	Question string
}

// Approval shows a call as a whole with every character of it visible, asks, and
// returns what is called once that is answered or given up. As with Question what
// else is to be shown waits until then, and ready is called before it asks.
func (r *Renderer) Approval(a Approval, ready func()) (done func(answered bool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endText()
	r.erase()
	r.write(r.paint(amber, "belljar: this is to be approved: "+Visible(a.Tool)) + "\n")
	if a.Agent != "" {
		first, _, more := strings.Cut(strings.TrimSpace(a.Agent), "\n")
		text := "belljar: a sub-agent asks for it, whose task is: " + Visible(first)
		if more {
			text += " …"
		}
		r.write(r.paint(amber, Clip(text, r.width())) + "\n")
	}
	list, ok := parseArguments(a.Arguments)
	if !ok {
		list = []argument{{value: a.Arguments}}
	}
	for _, arg := range list {
		r.approvalArgument(arg)
	}
	if a.Risk != "" {
		r.write(r.paint(red, "belljar: "+r.broken("beware: "+Line(a.Risk))) + "\n")
	}
	if a.Hint != "" {
		r.write(r.paint(faint, "belljar: "+r.broken("instead: "+Line(a.Hint))) + "\n")
	}
	return r.ask(a.Question, ready)
}

// approvalArgument writes one argument of a call that is to be approved.
func (r *Renderer) approvalArgument(arg argument) {
	value := arg.value
	if list := new(bytes.Buffer); !arg.text && json.Indent(list, []byte(value), "", "  ") == nil {
		value = list.String()
	}
	const bar, goesOn = "│ ", "┊ "
	var rows []row
	for line := range strings.SplitSeq(strings.TrimSuffix(value, "\n"), "\n") {
		mark := bar
		for _, text := range inRows(expandTabs(cutLine(Visible(line))), r.width()-len("  ")-widths().StringWidth(bar)) {
			rows = append(rows, row{mark, text})
			mark = goesOn
		}
	}
	head, hidden, tail := split(rows, approvalHeadRows, approvalTailRows)
	if arg.name != "" {
		r.write("  " + r.paint(faint, Clip(Visible(arg.name), r.width()-len("  "))) + "\n")
	}
	write := func(rows []row) {
		for _, row := range rows {
			r.write("  " + r.paint(faint, row.mark) + row.text + "\n")
		}
	}
	write(head)
	if hidden != nil {
		r.write("  " + r.paint(amber, "… "+Plural(len(hidden), "more row")+" that are not shown here") + "\n")
	}
	write(tail)
}

// A row is one of the screen: a line, or what goes on of it. Each has a mark at its
// beginning, so that no text can look as if belljar had written it.
type row struct{ mark, text string }

// inRows breaks a line into rows of so many columns, wherever that is: where there
// is space at the end of a row it is still seen where the next one begins.
func inRows(line string, width int) []string {
	var rows []string
	measure := widths()
	start, column := 0, 0
	for at, r := range line {
		wide := measure.RuneWidth(r)
		if column+wide > max(width, 1) && at > start {
			rows, start, column = append(rows, line[start:at]), at, 0
		}
		column += wide
	}
	return append(rows, line[start:])
}

// cutLine bounds a line.
func cutLine(line string) string {
	chars := []rune(line)
	if len(chars) <= approvalLine {
		return line
	}
	return string(chars[:approvalLine]) + " … " + Plural(len(chars)-approvalLine, "more character")
}

// Visible writes every character of a text that a terminal would not show, or
// would take for an order, by its number, as ⟦U+202E⟧, and the bracket that this
// begins with as well, so that no text can look like it; tabs stay. A person who
// reads it has seen all there is.
func Visible(text string) string {
	const bracket = '⟦'
	plain := func(r rune) bool { return r == '\t' || r != bracket && unicode.IsPrint(r) && !blank(r) }
	if strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if plain(r) {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "%cU+%04X⟧", bracket, r)
	}
	return b.String()
}

// blank tells a character that shows nothing, or that only changes how another is
// shown, although it counts as one that is printed.
func blank(r rune) bool {
	switch r {
	case '\u2800', '\U00016fe4', '\U0001d159': // the pattern without dots, a filler, a note without a head
		return true
	}
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// approval shows a decision, where a finished run is read. While one goes on the
// question was on the screen, and a denial is in the result; what the guard let
// run unseen is neither.
func (r *Renderer) approval(event trajectory.Approval) {
	unknown := event.Decision == "allowed" && event.By == trajectory.ByGuard // its look broke down
	if !r.opts.Whole && !unknown {
		return
	}
	text := Line(event.Decision) + " by " + Line(event.By)
	if event.Reason != "" {
		text += ": " + Line(event.Reason)
	} else if event.Risk != "" {
		text += ", although: " + Line(event.Risk)
	}
	r.write("  " + r.paint(amber, "approval: ") + r.broken(strings.ReplaceAll(text, "_", " ")) + "\n")
}
