package agent

import (
	"strings"
	"unicode"
)

// cleanText makes a text fit for the history: valid UTF-8 without control
// characters other than tab and newline. Strict servers refuse the others, and
// since every request repeats the history they would refuse all that follow.
func cleanText(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), string(unicode.ReplacementChar))
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}
