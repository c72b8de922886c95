package tools

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// refuseBinary keeps a file of a known kind that is no text from being edited
// as one: a word that stands in it by chance, or a length that some other part
// of it tells, would break it. What names bytes that no text has means them. A
// text may hold a few such bytes, too.
func refuseBinary(content string, about []string) error {
	kind, _ := kindOfBinary([]byte(content[:min(len(content), sniffed)]))
	known := kind != "" && !strings.HasSuffix(kind, "(application/octet-stream)") && !strings.Contains(kind, "(text/")
	if !known || slices.ContainsFunc(about, oddBytes) {
		return nil
	}
	return answer(fmt.Sprintf("it is %s, which is not edited as a text: use bash with a script, or name its bytes as %s", kind, spellForm))
}

// oddBytes tells whether a text has bytes that are none of a text.
func oddBytes(text string) bool {
	if !utf8.ValidString(text) {
		return true
	}
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' {
			return true
		}
	}
	return false
}
