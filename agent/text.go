package agent

import (
	"regexp"
	"strings"
	"unicode"
)

// cleanText makes a text fit for the history: valid UTF-8 without escape
// sequences and control characters other than tab and newline. Strict servers
// refuse the others, and since every request repeats the history they would
// refuse all that follow.
func cleanText(text string) string {
	if strings.ContainsRune(text, '\x1b') {
		text = sequences().ReplaceAllString(text, "")
	}
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), string(unicode.ReplacementChar))
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}

// sequences finds the escape sequences of terminals (ECMA-48): without its first
// byte the rest of one would stand in the text.
func sequences() *regexp.Regexp {
	return regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^_a-~])`)
}
