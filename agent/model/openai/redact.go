package openai

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// redactor returns a func that takes the key, and values of the query that may
// be one, out of a text: servers repeat them in their errors and in the
// addresses that they send elsewhere to.
func redactor(key string, query url.Values) func(string) string {
	const shortest = 8 // what is shorter is a word, and no secret
	var patterns []string
	add := func(secret string) {
		if len(secret) >= shortest {
			patterns = append(patterns, spellings(secret))
		}
	}
	add(key)
	for _, values := range query {
		for _, value := range values {
			add(value)
		}
	}
	if len(patterns) == 0 {
		return func(text string) string { return text }
	}
	secrets := regexp.MustCompile(strings.Join(patterns, "|"))
	return func(text string) string { return secrets.ReplaceAllLiteralString(text, "<secret-hidden>") }
}

// spellings is a pattern of all ways in which a secret is written in addresses
// and JSON: each character as it is, percent-encoded however often, since an
// address within an address is encoded again, or escaped.
func spellings(secret string) string {
	var b strings.Builder
	for len(secret) > 0 {
		r, size := utf8.DecodeRuneInString(secret)
		ways := []string{`\\?` + regexp.QuoteMeta(string(r)), fmt.Sprintf(`\\u(?i:%04x)`, r)}
		encoded := ""
		for _, c := range []byte(secret[:size]) {
			encoded += fmt.Sprintf("%%(?:25)*(?i:%02x)", c)
		}
		ways = append(ways, encoded)
		if r == ' ' {
			ways = append(ways, `\+|%(?:25)*2[bB]`)
		}
		b.WriteString("(?:" + strings.Join(ways, "|") + ")")
		secret = secret[size:]
	}
	return b.String()
}
