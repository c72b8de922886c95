package ui

import (
	"strings"
	"testing"
)

func TestWrapperBreaksAtWords(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"short", "one two", "one two"},
		{"breaks", "one two three", "one two\nthree"},
		{"exactly full", "0123456789 x", "0123456789\nx"},
		{"line ends stay", "a\n\nb", "a\n\nb"},
		{"indentation stays", "x\n    code", "x\n    code"},
		{"a word wider than the screen", "a 0123456789012 b", "a\n0123456789012 b"},
		{"wide characters", "日本語 中国語", "日本語\n中国語"},
		{"trailing space", "one two  ", "one two"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, size := range []int{1, 3, 100} {
				w := &wrapper{width: func() int { return 10 }}
				var got strings.Builder
				runes := []rune(test.in)
				for len(runes) > 0 {
					n := min(size, len(runes))
					got.WriteString(w.add(string(runes[:n])))
					runes = runes[n:]
				}
				got.WriteString(w.end())
				if got.String() != test.want {
					t.Errorf("pieces of %d: got %q, want %q", size, got.String(), test.want)
				}
			}
		})
	}
}

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		name, line, want string
		width            int
	}{
		{"it fits", "belljar: one two", "belljar: one two", 16},
		{"it does not", "belljar: one two three four", "belljar: one\n  two three\n  four", 12},
		{"a long word", "belljar: " + strings.Repeat("x", 20) + " y", "belljar:\n  " + strings.Repeat("x", 20) + " y", 12},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Wrap(test.line, test.width); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
