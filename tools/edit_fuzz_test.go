package tools

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzEdit(f *testing.F) {
	f.Add("a\r\nb\r\nc\n", "a\nb", "a\nB", false)
	f.Add("x\ny\nx", "x", "", true)
	f.Add("\xef\xbb\xbfcaf\xe9\x1b\n", "⟦e9⟧", "e", false)
	f.Add("a\r\r\nb", "\r\nb", "\n\n", true)
	f.Fuzz(func(t *testing.T, content, old, new string, all bool) {
		if old == "" || old == new || !utf8.ValidString(old) || !utf8.ValidString(new) {
			return
		}
		e := edit{old: unspell(old), new: unspell(new), all: all}
		done, err := e.apply(content)
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
		// Every byte before the first match and after the last is as it was.
		first, last := done.regions[0], done.regions[len(done.regions)-1]
		if !strings.HasPrefix(done.content, content[:done.before.original(first.start)]) ||
			!strings.HasSuffix(done.content, content[done.before.original(last.end):]) {
			t.Errorf("%q was changed outside of the match: %q", content, done.content)
		}
		// But for line ends, all else is the text with the matches replaced. A
		// CR that is data can come to stand before a newline.
		if !strings.Contains(strings.ReplaceAll(content+e.old+e.new, "\r\n", ""), "\r") {
			if want := done.after(0, len(done.before.text), 0, len(done.regions)); fold(done.content).text != want {
				t.Errorf("%q, want %q but for line ends", done.content, want)
			}
		}
		if !all && len(done.regions) != 1 {
			t.Errorf("%d places were changed", len(done.regions))
		}
		if diff := done.diff("file"); !utf8.ValidString(diff) || utf8.RuneCountInString(diff) > diffChars+200 {
			t.Errorf("diff %q", diff)
		}
	})
}
