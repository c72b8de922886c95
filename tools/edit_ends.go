package tools

import "strings"

// lineEnds finds the line ends that new lines follow. It is asked for one place
// after the other, and looks through a line once however many places it has.
type lineEnds struct {
	folded
	asked, next int // no newline is between them; 0 before the first look
	last        int // the last newline of the text, once next is its end
}

// of are the line ends in the region of an op or, where it has none, the nearest
// one behind it, or else before it.
func (l *lineEnds) of(o op) []string {
	switch {
	case len(l.crlf) == 0 || !strings.Contains(o.text, "\n"):
		return []string{"\n"}
	case !l.mixed:
		return []string{"\r\n"}
	}
	var ends []string
	for i := o.start; i < o.end; i++ {
		if l.text[i] == '\n' {
			ends = append(ends, l.end(i))
		}
	}
	if ends != nil {
		return ends
	}
	if l.next == 0 || o.end < l.asked || o.end > l.next {
		l.look(o.end)
	}
	switch {
	case l.next < len(l.text):
		return []string{l.end(l.next)}
	case l.last >= 0:
		return []string{l.end(l.last)}
	}
	return []string{"\n"}
}

func (l *lineEnds) look(from int) {
	l.asked, l.next = from, len(l.text)
	if i := strings.IndexByte(l.text[from:], '\n'); i >= 0 {
		l.next = from + i
		return
	}
	l.last = strings.LastIndexByte(l.text, '\n')
}
