package openai

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A suspect is a part of a server's address that may be a key.
type suspect struct {
	name       string // in the query; "" has none there
	raw, plain string // as it stands, and decoded
	sure       bool   // it is nothing else
}

// suspects are the parts of an address that may be keys: the password, or a user
// name without one, and the values of the query, but for those of versions. The
// address need not be a good one.
func suspects(address string) []suspect {
	var found []suspect
	add := func(s suspect, decode func(string) (string, error)) {
		var err error
		if s.plain, err = decode(s.raw); err != nil {
			s.plain = s.raw
		}
		if s.raw != "" {
			found = append(found, s)
		}
	}
	address, _, _ = strings.Cut(address, "#")
	address, query, _ := strings.Cut(address, "?")
	if _, rest, ok := strings.Cut(address, "//"); ok {
		authority, _, _ := strings.Cut(rest, "/")
		if at := strings.LastIndexByte(authority, '@'); at >= 0 {
			user, password, _ := strings.Cut(authority[:at], ":")
			add(suspect{raw: cmp.Or(password, user), sure: true}, url.PathUnescape)
		}
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, value, named := strings.Cut(pair, "=")
		switch {
		case !named:
			add(suspect{raw: name}, url.QueryUnescape)
		case !isVersion(name): // that is a date, which stands in many texts
			add(suspect{name: name, raw: value, sure: name == ""}, url.QueryUnescape)
		}
	}
	return found
}

// isVersion tells the parameters that hold a version.
func isVersion(parameter string) bool {
	switch strings.ToLower(parameter) {
	case "version", "api-version", "api_version":
		return true
	default:
		return false
	}
}

// spelled are the parts as they stand and decoded.
func spelled(parts []suspect) []string {
	var texts []string
	for _, s := range parts {
		texts = append(texts, s.raw)
		if s.plain != s.raw {
			texts = append(texts, s.plain)
		}
	}
	return texts
}

// AddressKeys are the parts of a server's address that are likely to be keys, as
// they stand and decoded: a password, or a user name without one, and of the
// query what stands under a name that isSecret tells, or looks like no word. The
// rest of a query are words that stand in many texts, such as a region. The
// address need not be a good one.
func AddressKeys(address string, isSecret func(name string) bool) []string {
	return spelled(slices.DeleteFunc(suspects(address), func(s suspect) bool {
		return !s.sure && !(s.name != "" && isSecret(s.name)) && !looksRandom(s.plain)
	}))
}

// looksRandom tells a text that is likely to be no word and no number.
func looksRandom(text string) bool {
	const shortest = 16
	digit := func(r rune) bool { return r >= '0' && r <= '9' }
	return len(text) >= shortest && strings.ContainsFunc(text, digit) && strings.ContainsFunc(text, unicode.IsLetter)
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
