package tools

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkEdited holds what edits made of a content against it: all bytes outside
// of the changed regions are as they were, in their order.
func checkEdited(t *testing.T, content string, done edited) {
	t.Helper()
	at, rest := 0, done.content
	for i, r := range done.regions {
		start, end := done.before.original(r.start), done.before.original(r.end)
		if start < at || end < start {
			t.Fatalf("the regions %v are not in order", done.regions)
		}
		kept, ok := strings.CutPrefix(rest, content[at:start])
		if !ok {
			t.Fatalf("%q was changed before the region %v: %q", content, r, done.content)
		}
		// What comes for the region is known but for its line ends.
		n, ok := prefixButEnds(kept, done.news[i])
		if !ok {
			t.Fatalf("%q has not %q for the region %v: %q", content, done.news[i], r, done.content)
		}
		at, rest = end, kept[n:]
	}
	if rest != content[at:] {
		t.Fatalf("%q was changed behind the regions %v: %q", content, done.regions, done.content)
	}
}

// prefixButEnds is the length of the prefix of s that is the text in LF, each
// of whose newlines may be CRLF.
func prefixButEnds(s, text string) (int, bool) {
	at := 0
	for i := range len(text) {
		if text[i] == '\n' && strings.HasPrefix(s[at:], "\r\n") {
			at++
		}
		if at >= len(s) || s[at] != text[i] {
			return 0, false
		}
		at++
	}
	return at, true
}

func FuzzEdit(f *testing.F) {
	for _, tolerant := range []bool{false, true} {
		f.Add("a\r\nb\r\nc\n", "a\nb", "a\nB", false, tolerant)
		f.Add("x\ny\nx", "x", "", true, tolerant)
		f.Add("\xef\xbb\xbfcaf\xe9\x1b\n", "⟦e9⟧", "e", false, tolerant)
		f.Add("a\r\r\nb", "\r\nb", "\n\n", true, tolerant)
		f.Add("func f() {\n\tif a {\n\t\tb() \n\t}\n}\n", "if a {\n    b()\n}\n", "if a {\n    c()\n    d()\n}\n", false, tolerant)
		f.Add("say “hello” – twice\r\nend", "say \"hello\" - twice\nend\n", "say \"bye\" - twice\nend\n", false, tolerant)
		f.Add("cafe\u0301 x\n", "café x", "café y", false, tolerant)
		f.Add("  a\n  b\n", "a\n\tb", "", false, tolerant)
	}
	f.Fuzz(func(t *testing.T, content, old, new string, all, tolerant bool) {
		if old == "" || old == new || !utf8.ValidString(old) || !utf8.ValidString(new) {
			return
		}
		e := newEdit(old, new, all)
		done, err := applyEdits(t.Context(), content, []edit{e}, tolerant)
		var told answer
		if errors.As(err, &told) {
			if !utf8.ValidString(string(told)) {
				t.Errorf("the answer is not UTF-8: %q", told)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		checkEdited(t, content, done)
		if !tolerant && done.notes != nil {
			t.Errorf("a match that is not exact was taken: %q", done.notes)
		}
		// But for line ends, an exact edit is the text with the matches
		// replaced. A CR that is data can come to stand before a newline.
		if done.notes == nil && !strings.Contains(strings.ReplaceAll(content+e.old+e.new, "\r\n", ""), "\r") {
			want := strings.Replace(fold(content).text, fold(e.old).text, fold(e.new).text, map[bool]int{true: -1, false: 1}[all])
			if fold(done.content).text != want {
				t.Errorf("%q, want %q but for line ends", done.content, want)
			}
		}
		if !all && done.places != 1 {
			t.Errorf("%d places were changed", done.places)
		}
		if diff := done.diff("file"); !utf8.ValidString(diff) || utf8.RuneCountInString(diff) > diffChars+200 {
			t.Errorf("diff %q", diff)
		}
	})
}
