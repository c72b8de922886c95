package tools

import "strings"

// A rebuilder makes the new lines of a match that is not exact.
type rebuilder struct {
	old, have []string // the lines of the old text and of the place
	shifts    shifts
}

// op is what an op on the old text becomes at the place.
func (b *rebuilder) op(old string, span region, o op) op {
	first := strings.Count(old[:o.start], "\n")
	last := first + len(splitLines(old[o.start:o.end]))
	if o.start == o.end {
		last = first
	}
	made := op{region: region{span.start + length(b.have[:first]), span.start + length(b.have[:last])}}
	if o.end == len(old) {
		made.end = span.end
	}
	var lines strings.Builder
	for i, l := range splitLines(o.text) {
		if k := first + i; k < last {
			l = b.replace(k, l)
		} else {
			l = b.shifts.shift(l)
		}
		lines.WriteString(l)
	}
	made.text = lines.String()
	return made
}

// replace makes the new line that comes for the line k of the old text. What
// they have in common at both ends stays as it is at the place.
func (b *rebuilder) replace(k int, line string) string {
	indent := indentOf(line)
	if k == 0 && !b.shifts.first { // the white space before it is outside of the match
		indent := indentOf(b.old[k])
		return keepCommon(b.old[k][len(indent):], b.have[k], strings.TrimPrefix(line, indent))
	}
	if strings.TrimSpace(line) == "" || strings.TrimSpace(b.old[k]) == "" {
		return b.shifts.shift(line)
	}
	moved := b.shifts.indent(indent)
	if indent == indentOf(b.old[k]) {
		moved = indentOf(b.have[k])
	}
	return moved + keepCommon(b.old[k][len(indentOf(b.old[k])):], b.have[k][len(indentOf(b.have[k])):], line[len(indent):])
}

// keepCommon is a new text with what it has in common with the old one, at both
// ends, written as it is in have, which is the old text but for its form.
func keepCommon(old, have, new string) string {
	if trimmed, ended := strings.CutSuffix(old, "\n"); ended && !strings.HasSuffix(have, "\n") {
		line, newline := strings.CutSuffix(new, "\n")
		line = keepCommon(trimmed, have, line)
		if newline {
			line += "\n"
		}
		return line
	}
	o, h, n := loosen(old, looseForm), loosen(have, looseForm), loosen(new, looseForm)
	if o.text != h.text {
		return new
	}
	head, most := 0, min(len(o.text), len(n.text))
	for head < most && o.text[head] == n.text[head] {
		head++
	}
	for !o.parts(head) || !h.parts(head) || !n.parts(head) {
		head--
	}
	tail := 0
	for tail < most-head && o.text[len(o.text)-1-tail] == n.text[len(n.text)-1-tail] {
		tail++
	}
	for !o.parts(len(o.text)-tail) || !h.parts(len(h.text)-tail) || !n.parts(len(n.text)-tail) {
		tail--
	}
	if tail == 0 {
		return have[:h.end(head)] + new[n.end(head):]
	}
	return have[:h.end(head)] + new[n.end(head):n.start(len(n.text)-tail)] + have[h.start(len(h.text)-tail):]
}

// parts tells whether a place in a loose text is between two characters.
func (l loose) parts(at int) bool {
	return at == 0 || at == len(l.text) || l.from[at] >= l.to[at-1]
}

// end is where in the original the first n bytes end.
func (l loose) end(n int) int {
	if n == 0 {
		return 0
	}
	return int(l.to[n-1])
}

// start is where in the original the bytes from n on start, of which there are
// some.
func (l loose) start(n int) int { return int(l.from[n]) }

func length(lines []string) int {
	n := 0
	for _, l := range lines {
		n += len(l)
	}
	return n
}

// splitLines splits a text after its newlines. What is behind the last one is a
// line when there is something.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
