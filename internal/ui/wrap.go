package ui

import "strings"

// A wrapper breaks text that comes in pieces at words, where the screen would
// break it anywhere. The last word is held back until it is known to be whole.
type wrapper struct {
	width  func() int
	column int
	spaces string // in front of the word
	word   strings.Builder
}

// add takes a piece and returns what can be shown of it.
func (w *wrapper) add(piece string) string {
	var out strings.Builder
	for _, r := range piece {
		switch r {
		case '\n':
			w.flush(&out)
			out.WriteByte('\n')
			w.column, w.spaces = 0, ""
		case ' ', '\t':
			w.flush(&out)
			w.spaces += string(r)
		default:
			w.word.WriteRune(r)
		}
	}
	return out.String()
}

// end returns what was held back, and is ready for another text.
func (w *wrapper) end() string {
	var out strings.Builder
	w.flush(&out)
	w.column, w.spaces = 0, ""
	return out.String()
}

// flush shows the word, on a new line where it does not fit on this one. A
// word that is wider than the screen is left to the screen.
func (w *wrapper) flush(out *strings.Builder) {
	if w.word.Len() == 0 {
		return
	}
	word, spaces := w.word.String(), expandTabs(w.spaces)
	wide := widths().StringWidth(word)
	limit := max(w.width(), 1)
	if w.column > 0 && w.column+len(spaces)+wide > limit {
		out.WriteByte('\n')
		w.column, spaces = 0, ""
	}
	out.WriteString(spaces + word)
	if w.column += len(spaces) + wide; w.column > limit {
		w.column %= limit // the screen has broken the word
	}
	w.spaces = ""
	w.word.Reset()
}

// Wrap breaks one line at words, so that none is wider than width where its
// words are not, and sets those after the first off by two spaces.
func Wrap(line string, width int) string {
	const indent = "  "
	w := wrapper{width: func() int { return max(width-len(indent), 1) }}
	// The first line may be as wide as the others with their indent.
	w.column = -len(indent)
	text := w.add(line)
	return strings.ReplaceAll(text+w.end(), "\n", "\n"+indent)
}
