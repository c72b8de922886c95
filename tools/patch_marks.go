package tools

import "strings"

// lostMarks is a note on lines of a patch that were taken as lines that stay.
const lostMarks = "lines that stay start with a space in a patch, before their indentation, and some of these did not: they were taken as if they did"

// marked gives the lines that stay the space back that some models leave out
// before them, so that one of their indentation was read as the mark.
func (c chunk) marked() chunk {
	return c.markedAs(func(_ int, _ string) bool { return true })
}

// markedAt is marked for those lines alone that differ by it from the lines of
// a file.
func (c chunk) markedAt(have []string) chunk {
	return c.markedAs(func(i int, text string) bool {
		return i < len(have) && strings.TrimSuffix(have[i], "\n") == " "+text
	})
}

// markedAs asks lost of each line that stays, with its number among those that
// stay or go.
func (c chunk) markedAs(lost func(i int, text string) bool) chunk {
	lines := make([]patchLine, len(c.lines))
	i := 0
	for k, l := range c.lines {
		if l.mark == ' ' && l.text != "" && lost(i, l.text) {
			l.text = " " + l.text
		}
		if l.mark != '+' {
			i++
		}
		lines[k] = l
	}
	c.lines = lines
	return c
}

// remarked is the match of a chunk, some lines of which lost their mark, with
// the lines of a text that are its own but for white space. It is nil where
// something else differs as well: then new lines are indented as the file is.
func (c chunk) remarked(text string, span region) *match {
	if c = c.markedAt(splitLines(text[span.start:span.end])); !sameLines(c.rewrite().old, text[span.start:span.end]) {
		return nil
	}
	m := c.rewrite().at(span)
	m.endAsBefore(text)
	m.note = lostMarks
	return &m
}

// sameLines tells whether two texts are the same but for a newline at the end.
func sameLines(a, b string) bool {
	return strings.TrimSuffix(a, "\n") == strings.TrimSuffix(b, "\n")
}
