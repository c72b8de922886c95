package openai

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// AddressSecrets are the parts of a server's address that may be keys, as they
// stand and decoded: the password, or a user name without one, and the values
// of the query, but for those of versions. The address need not be a good one.
func AddressSecrets(address string) []string {
	var secrets []string
	add := func(raw string, decode func(string) (string, error)) {
		if raw != "" {
			secrets = append(secrets, raw)
		}
		if plain, err := decode(raw); err == nil && plain != raw {
			secrets = append(secrets, plain)
		}
	}
	address, _, _ = strings.Cut(address, "#")
	address, query, _ := strings.Cut(address, "?")
	if _, rest, ok := strings.Cut(address, "//"); ok {
		authority, _, _ := strings.Cut(rest, "/")
		if at := strings.LastIndexByte(authority, '@'); at >= 0 {
			user, password, _ := strings.Cut(authority[:at], ":")
			add(cmp.Or(password, user), url.PathUnescape)
		}
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, value, named := strings.Cut(pair, "=")
		switch {
		case !named:
			add(name, url.QueryUnescape)
		case !strings.HasSuffix(strings.ToLower(name), "version"): // that is a date, which stands in many texts
			add(value, url.QueryUnescape)
		}
	}
	return secrets
}

// redactor returns a func that takes secrets out of a text: servers repeat them
// in their errors and in the addresses that they send elsewhere to.
func redactor(secrets ...string) func(string) string {
	const shortest = 8 // what is shorter is a word, and no secret
	var patterns []string
	for _, secret := range secrets {
		if len(secret) >= shortest {
			patterns = append(patterns, spellings(secret))
		}
	}
	if len(patterns) == 0 {
		return func(text string) string { return text }
	}
	// The longest first: one may be the beginning of another, and the rest of
	// that must not stay.
	slices.SortFunc(patterns, func(a, b string) int { return len(b) - len(a) })
	hidden := regexp.MustCompile(strings.Join(patterns, "|"))
	return func(text string) string { return hidden.ReplaceAllLiteralString(text, "<secret-hidden>") }
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
