package tools

import (
	"fmt"
	"strings"
)

// withinIndent starts a sentence about an old text of one line that starts with
// less white space than the line that it stands in, which is then where it
// starts: what the model took for the indentation of the line is not. It is ""
// where there is no such place. Where all places are asked for only new lines
// matter.
func (e edit) withinIndent(text string, found []region) string {
	if indentOf(e.old) == "" || linesWithText(e.old) != 1 || strings.TrimSpace(firstLine(e.old)) == "" {
		return ""
	}
	if e.all && linesWithText(e.new) < 2 || !e.all && len(found) != 1 {
		return ""
	}
	for _, at := range found {
		// Only over white space: the line can be of any length.
		before := strings.TrimRight(text[:at.start], " \t")
		if len(before) < at.start && (before == "" || before[len(before)-1] == '\n') {
			return fmt.Sprintf("In %s it stands behind more indentation: ", spanned(text, at))
		}
	}
	return ""
}

// linesWithText counts the lines that are not blank.
func linesWithText(text string) int {
	n := 0
	for l := range strings.Lines(text) {
		if strings.TrimSpace(l) != "" {
			n++
		}
	}
	return n
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
