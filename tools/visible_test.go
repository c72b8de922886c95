package tools

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// scotland is the flag of Scotland, which is made of tags.
const scotland = "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"

var visibleTests = []struct{ name, raw, want string }{
	{"plain", "a\tb\nc grün 中🫙", "a\tb\nc grün 中🫙"},
	{"control", "\x1b[0m\x00\x7f", "⟦1b⟧[0m⟦00⟧⟦7f⟧"},
	{"carriage return", "a\rb", "a⟦0d⟧b"},
	{"Latin-1", "caf\xe9", "caf⟦e9⟧"},
	{"C1 character", "\u0085", "⟦c2⟧⟦85⟧"},
	{"cut character", "\xe4\xb8", "⟦e4⟧⟦b8⟧"},
	{"replacement character", "\uFFFD", "\uFFFD"},
	{"byte order mark", "\ufeffa\ufeff", "⟦ef⟧⟦bb⟧⟦bf⟧a⟦ef⟧⟦bb⟧⟦bf⟧"},
	{"marks of order", "a\u202eb\u2066c\u2069", "a⟦e2⟧⟦80⟧⟦ae⟧b⟦e2⟧⟦81⟧⟦a6⟧c⟦e2⟧⟦81⟧⟦a9⟧"},
	{"ends of lines that are none", "a\u2028b", "a⟦e2⟧⟦80⟧⟦a8⟧b"},
	{"single marks of direction", "a\u200eb\u061c", "a⟦e2⟧⟦80⟧⟦8e⟧b⟦d8⟧⟦9c⟧"},
	{"tags", "a\U000e0041", "a⟦f3⟧⟦a0⟧⟦81⟧⟦81⟧"},
	{"characters that join and part", "a\u200db\u200bc", "a\u200db\u200bc"},
	{"emoji with tags", scotland + "x", scotland + "x"},
	{"emoji with tags that are too many", scotland + "\U000e0041", scotland + "⟦f3⟧⟦a0⟧⟦81⟧⟦81⟧"},
	{"spelling as text", "⟦1b⟧", "⟦e2⟧⟦9f⟧⟦a6⟧1b⟧"},
	{"upper-case spelling as text", "⟦1B⟧", "⟦e2⟧⟦9f⟧⟦a6⟧1B⟧"},
	{"brackets as text", "⟦x⟧ ⟦1g⟧ ⟦12", "⟦x⟧ ⟦1g⟧ ⟦12"},
}

func TestVisible(t *testing.T) {
	for _, tt := range visibleTests {
		t.Run(tt.name, func(t *testing.T) {
			if got := visible(tt.raw); got != tt.want {
				t.Errorf("visible(%q) = %q, want %q", tt.raw, got, tt.want)
			}
			if got := unspell(tt.want); got != tt.raw {
				t.Errorf("unspell(%q) = %q, want %q", tt.want, got, tt.raw)
			}
		})
	}
	if got := unspell("⟦1B⟧⟦e9⟧"); got != "\x1b\xe9" {
		t.Errorf("unspell takes upper case to %q", got)
	}
}

func TestVisibleUpTo(t *testing.T) {
	for _, tt := range []struct {
		raw   string
		limit int
		shown string
		used  int
	}{
		{"中中中", 2, "中中", 6},
		{"a\x1bb", 4, "a", 1},
		{"a\x1bb", 5, "a⟦1b⟧", 2},
		{"abc", 3, "abc", 3},
		{"abc", 0, "", 0},
		{scotland + "x", 7, scotland, len(scotland)},
		{scotland, 6, "", 0},
	} {
		if shown, used, _ := visibleUpTo(tt.raw, tt.limit); shown != tt.shown || used != tt.used {
			t.Errorf("visibleUpTo(%q, %d) = %q, %d, want %q, %d", tt.raw, tt.limit, shown, used, tt.shown, tt.used)
		}
	}
}

func FuzzVisible(f *testing.F) {
	for _, tt := range visibleTests {
		f.Add(tt.raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		shown := visible(raw)
		if !utf8.ValidString(shown) {
			t.Errorf("visible(%q) = %q is not UTF-8", raw, shown)
		}
		if strings.ContainsFunc(shown, func(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\n' }) {
			t.Errorf("visible(%q) = %q holds a control character", raw, shown)
		}
		if got := unspell(shown); got != raw {
			t.Errorf("%q came back as %q", raw, got)
		}
	})
}

// TestExpression: what is spelled in a pattern stands for what it was spelled for.
func TestExpression(t *testing.T) {
	for _, tt := range []struct{ name, pattern, text string }{
		{"control byte", "a⟦1b⟧b", "a\x1bb"},
		{"several", "⟦1b⟧⟦07⟧$", "\x1b\x07"},
		{"a character of several bytes", "⟦ef⟧⟦bb⟧⟦bf⟧using", "x\ufeffusing"},
		{"upper case", "a⟦1B⟧b", "a\x1bb"},
		{"once or more", "^⟦e2⟧⟦80⟧⟦ae⟧+$", "\u202e\u202e"},
		{"not UTF-8", "caf⟦e9⟧", "caf\ufffd"},
		{"a spelling", "⟦e2⟧⟦9f⟧⟦a6⟧1b⟧", "⟦1b⟧"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if e := expression(tt.pattern, false); !regexp.MustCompile(e).MatchString(tt.text) {
				t.Errorf("%q became %s, which does not match %q", tt.pattern, e, tt.text)
			}
		})
	}
	if e := expression("⟦ef⟧⟦bb⟧⟦bf⟧.", true); regexp.MustCompile(e).MatchString("\ufeffx") || !regexp.MustCompile(e).MatchString("\ufeff.") {
		t.Errorf("%s is not literal", e)
	}
}
