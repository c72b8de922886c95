package ui

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"

	"github.com/belljar/belljar/agent/trajectory"
)

// Bounds of what is shown of a call that somebody is to approve. What is left
// out is said, so that nobody agrees to what does not stand there unawares.
const (
	approvalHeadLines = 60
	approvalTailLines = 20
	approvalLine      = 2000 // characters of one line
)

// An Approval is a call that a person is asked about.
type Approval struct {
	// Tool and Arguments are the call's.
	Tool, Arguments string
	// Risk says what is out of the ordinary about it; it may be empty.
	Risk string
	// Question is what is asked.
	Question string
}

// Approval shows a call as a whole with every character of it visible, asks, and
// returns what is called once that is answered or given up. As with Question what
// else is to be shown waits until then.
func (r *Renderer) Approval(a Approval) (done func(answered bool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endText()
	r.erase()
	r.write(r.paint(amber, "belljar: this is to be approved: "+Visible(a.Tool)) + "\n")
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
	return r.ask(a.Question)
}

// approvalArgument writes one argument of a call that is to be approved.
func (r *Renderer) approvalArgument(arg argument) {
	value := arg.value
	if list := new(bytes.Buffer); !arg.text && json.Indent(list, []byte(value), "", "  ") == nil {
		value = list.String()
	}
	lines := strings.Split(strings.TrimSuffix(value, "\n"), "\n")
	head, hidden, tail := split(lines, approvalHeadLines, approvalTailLines)
	if arg.name != "" {
		r.write("  " + r.paint(faint, Visible(arg.name)) + "\n")
	}
	write := func(lines []string) {
		for _, line := range lines {
			r.write("  " + r.paint(faint, "│ ") + expandTabs(cutLine(Visible(line))) + "\n")
		}
	}
	write(head)
	if hidden != nil {
		r.write("  " + r.paint(amber, "… "+Plural(len(hidden), "more line")+" that are not shown here") + "\n")
	}
	write(tail)
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
// would take for an order, as an escape; tabs stay. A person who reads it has seen
// all there is.
func Visible(text string) string {
	plain := func(r rune) bool { return unicode.IsPrint(r) || r == '\t' }
	if strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if plain(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// approval shows a decision, where a finished run is read. While one goes on the
// question was on the screen, and a denial is in the result.
func (r *Renderer) approval(event trajectory.Approval) {
	if !r.opts.Whole {
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
