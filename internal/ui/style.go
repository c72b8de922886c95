package ui

// A style is the number of a colour or weight in an escape sequence.
type style string

const (
	bold  style = "1"
	faint style = "2"
	red   style = "31"
	green style = "32"
	amber style = "33"
	cyan  style = "36"
)

// paint wraps a text in a style where colours are on.
func paint(on bool, s style, text string) string {
	if !on || s == "" || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// Verdict writes a short word in a column of four, in the colour of what is
// good, bad, or neither.
func Verdict(color bool, word string, good, bad bool) string {
	s := amber
	switch {
	case good:
		s = green
	case bad:
		s = red
	}
	return paint(color, s, pad(word, 4))
}
