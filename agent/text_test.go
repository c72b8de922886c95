package agent

import "testing"

func TestCleanText(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"plain", "a\tb\nc", "a\tb\nc"},
		{"line ends", "a\r\nb\r", "a\nb"},
		{"colour", "\x1b[1;31mred\x1b[0m", "red"},
		{"title", "\x1b]0;a title\x07text", "text"},
		{"link", "\x1b]8;;http://a.example\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"charset", "\x1b(Btext", "text"},
		{"unfinished", "a\x1b[31", "a[31"},
		{"unfinished title", "a\x1b]0;b\nc", "a]0;b\nc"},
		{"alone", "a\x1b", "a"},
		{"not UTF-8", "a\xff", "a\ufffd"},
		{"direction marks are text", "a\u202eb", "a\u202eb"},
	} {
		if got := cleanText(test.text); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
