package ui_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/belljar/belljar/internal/ui"
)

var sanitizeCases = []struct{ name, in, want string }{
	{"plain text stays", "héllo\twörld\n", "héllo\twörld\n"},
	{"wide characters stay", "中文 😀", "中文 😀"},
	{"colour", "\x1b[1;31mred\x1b[0m", "red"},
	{"cursor and clear", "a\x1b[2J\x1b[Hb", "ab"},
	{"title by BEL", "a\x1b]0;evil\x07b", "ab"},
	{"title by ST", "a\x1b]0;evil\x1b\\b", "ab"},
	{"clipboard", "\x1b]52;c;ZXZpbA==\x07x", "x"},
	{"device control", "\x1bP1$r0m\x1b\\x", "x"},
	{"string ended by another sequence", "\x1b]0;t\x1b[31mx", "x"},
	{"unfinished string hides one line only", "\x1b]0;evil\nshown", "\nshown"},
	{"unfinished sequence hides one line only", "a\x1b[12\nb", "a\nb"},
	{"two-byte sequence", "\x1bcx\x1b(Bz", "xz"},
	{"escape before escape", "\x1b\x1b[31mx", "x"},
	{"C1 control sequence", "a\u009b31mb", "ab"},
	{"C1 title", "a\u009d0;evil\u009cb", "ab"},
	{"other C1", "a\u0085\u0084b", "ab"},
	{"carriage return and backspace", "safe\rEVIL\b\b", "safeEVIL"},
	{"CRLF", "a\r\nb", "a\nb"},
	{"bell, NUL and DEL", "a\a\x00\x7fb", "ab"},
	{"direction marks", "a\u202eb\u2066c\u200fd\u061ce\u200e", "abcde"},
	{"emoji stay", "👩\u200d🚀 ❤\ufe0f 🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", "👩\u200d🚀 ❤\ufe0f 🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"},
	{"other line ends", "a\u2028b\u2029c", "abc"},
	{"invalid bytes", "a\xffb", "a\ufffdb"},
	{"cut character", "a\xe4\xb8", "a\ufffd"},
}

func TestSanitize(t *testing.T) {
	for _, test := range sanitizeCases {
		t.Run(test.name, func(t *testing.T) {
			if got := ui.Sanitize(test.in); got != test.want {
				t.Errorf("Sanitize(%q) = %q, want %q", test.in, got, test.want)
			}
		})
	}
}

func TestLineIsOneLine(t *testing.T) {
	if got, want := ui.Line(" a\n\tb\x1b[0m \r\n c "), "a b c"; got != want {
		t.Errorf("Line = %q, want %q", got, want)
	}
}

// FuzzSanitizer checks that nothing that steers a terminal comes through,
// wherever the text is cut into pieces.
func FuzzSanitizer(f *testing.F) {
	for i, test := range sanitizeCases {
		f.Add(test.in, i%4)
	}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		whole := ui.Sanitize(text)
		if !utf8.ValidString(whole) {
			t.Fatalf("Sanitize(%q) is not UTF-8: %q", text, whole)
		}
		for _, r := range whole {
			if unicode.IsControl(r) && r != '\t' && r != '\n' {
				t.Fatalf("Sanitize(%q) lets %U through", text, r)
			}
		}
		if again := ui.Sanitize(whole); again != whole {
			t.Fatalf("Sanitize is not stable on %q: %q, then %q", text, whole, again)
		}
		var s ui.Sanitizer
		var pieces strings.Builder
		step := max(cut, 1)
		for rest := text; rest != ""; {
			n := min(step, len(rest))
			pieces.WriteString(s.Clean(rest[:n]))
			rest = rest[n:]
		}
		// The end of a cut character is only told by the end of the text.
		if got := pieces.String(); got != whole && got+"\ufffd" != whole {
			t.Fatalf("in pieces of %d: %q, at once: %q", step, got, whole)
		}
	})
}
