package tools_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

type editTest struct {
	name, content, old, new string
	all                     bool
	want                    string   // the content afterwards; "" when refused
	has                     []string // in the answer
}

var editTests = []editTest{
	{name: "one word", content: "a b c\n", old: "b", new: "B", want: "a B c\n", has: []string{"edited file\n--- file\n+++ file\n@@ -1 +1 @@\n-a b c\n+a B c\n"}},
	{name: "deletion", content: "a\nb\nc\n", old: "b\n", new: "", want: "a\nc\n", has: []string{"@@ -1,3 +1,2 @@\n a\n-b\n c\n"}},
	{name: "insertion", content: "a\nc\n", old: "a\n", new: "a\nb\n", want: "a\nb\nc\n", has: []string{"@@ -1,2 +1,3 @@\n a\n+b\n c\n"}},
	{name: "no newline at the end", content: "a\nb", old: "b", new: "c", want: "a\nc", has: []string{"-b\n\\ No newline at end of file\n+c\n\\ No newline"}},
	{name: "dollars and backslashes", content: "x$1\\n", old: "$1\\n", new: "$0\\1", want: "x$0\\1"},

	{name: "CRLF file, LF text", content: "a\r\nb\r\nc\n", old: "a\nb", new: "a\nB", want: "a\r\nB\r\nc\n"},
	{name: "CRLF, new lines", content: "a\r\nb\r\n", old: "b", new: "b\nc\nd", want: "a\r\nb\r\nc\r\nd\r\n"},
	{name: "CRLF, old starts with a newline", content: "a\r\nb\r\n", old: "\nb", new: "\nc", want: "a\r\nc\r\n"},
	{name: "CRLF, deletion of a line", content: "a\r\nb\r\nc\r\n", old: "b\n", new: "", want: "a\r\nc\r\n"},
	{name: "CRLF text, LF file", content: "a\nb\n", old: "a\r\nb", new: "a\r\nc", want: "a\nc\n"},
	{name: "CRLF asked for", content: "a\nb\n", old: "a\n", new: "a\r\n", want: "a\r\nb\n", has: []string{"only line ends changed"}},
	{name: "mixed ends stay where they are", content: "a\r\nb\nc\r\n", old: "a\nb\nc", new: "x\ny\nz", want: "x\r\ny\nz\r\n"},
	{name: "last line of a CRLF file", content: "a\r\nb", old: "b", new: "b\nc", want: "a\r\nb\r\nc"},
	{name: "lone CR is data", content: "a\rb\n", old: "a⟦0d⟧b", new: "a⟦0d⟧c", want: "a\rc\n"},
	{name: "ambiguous over line ends", content: "a\nb\na\r\nb\r\n", old: "a\nb", new: "x", has: []string{"2 times (lines 1, 3)"}},

	{name: "byte order mark", content: "\xef\xbb\xbfa\nb\n", old: "a", new: "x", want: "\xef\xbb\xbfx\nb\n"},
	{name: "Latin-1 around", content: "caf\xe9 word\n", old: "word", new: "WORD", want: "caf\xe9 WORD\n", has: []string{"-caf⟦e9⟧ word\n"}},
	{name: "spelled bytes", content: "\x1b[31mred\xe9\n", old: "⟦1b⟧[31mred⟦e9⟧", new: "⟦1b⟧[32mred⟦e8⟧", want: "\x1b[32mred\xe8\n", has: []string{"+⟦1b⟧[32mred⟦e8⟧"}},
	{name: "a spelled CR before a line end", content: "x\r\r\ny\r\r\n", old: "x⟦0d⟧\ny", new: "x⟦0d⟧\nY", want: "x\r\r\nY\r\r\n"},
	{name: "a spelled CR before a line end, taken away", content: "x\r\r\ny\r\r\n", old: "x⟦0d⟧\n", new: "x\n", want: "x\r\ny\r\r\n"},
	{name: "a spelled CR to come", content: "x\ny\n", old: "x\n", new: "x⟦0d⟧\n", want: "x\r\ny\n"},
	{name: "text that looks spelled", content: "say ⟦1b⟧\n", old: "⟦e2⟧⟦9f⟧⟦a6⟧1b⟧", new: "ESC", want: "say ESC\n"},

	{name: "all, one of them behind more indentation, and a line after", content: "  y\n    y\n", old: "  y\n", new: "  y\n  z\n", all: true, has: []string{"In line 2 it stands behind more indentation"}},
	{name: "all, one of them behind more indentation", content: "  y\n    y\n", old: "  y\n", new: "  z\n", all: true, want: "  z\n    z\n"},
	{name: "new text that stands elsewhere", content: "return nil\nreturn sum(a, c)\n", old: "return sum(a, b)", new: "return nil", has: []string{"if that is the place that you mean", "return sum(a, c)"}},

	{name: "picture", content: "GIF89a\x01\x00\x01\x00\x80\x00", old: "GIF89a", new: "GIF87a", has: []string{"it is a binary file (image/gif), which is not edited as a text"}},
	{name: "program", content: "\x7fELF\x02\x01\x01\x00\x00usage: x\x00", old: "usage", new: "use", has: []string{"it is a binary file (an ELF program or library)"}},
	{name: "a zero byte among text", content: "one\x00two\n", old: "two", new: "2", want: "one\x002\n"},
	{name: "spelled bytes of a picture", content: "GIF89a\x01\x00\x01\x00\x80\x00", old: "GIF89a⟦01⟧⟦00⟧", new: "GIF89a⟦02⟧⟦00⟧", want: "GIF89a\x02\x00\x01\x00\x80\x00"},
	{name: "colors of a terminal", content: "\x1b[31mred\n", old: "red", new: "green", want: "\x1b[31mgreen\n"},

	{name: "empty old", content: "abc", old: "", new: "X", has: []string{"old_text is empty"}},
	{name: "empty old, all", content: "abc", old: "", new: "X", all: true, has: []string{"old_text is empty"}},
	{name: "no change", content: "abc", old: "b", new: "b", has: []string{"was not changed: old_text and new_text are the same"}},
	{name: "no change but in line ends", content: "a\nb\n", old: "a\nb", new: "a\r\nb", want: "a\r\nb\n"},
	{name: "no change after spelling", content: "a\x1b\n", old: "⟦1b⟧", new: "⟦1B⟧", has: []string{"was not changed: the new text would make the same bytes"}},
	{name: "empty file", content: "", old: "a", new: "b", has: []string{"empty; use write_file"}},
	{name: "three times", content: "x\ny\nx\nx\n", old: "x", new: "z", has: []string{"file was not changed", "3 times (lines 1, 3, 4)", "replace_all"}},
	{name: "overlapping", content: "aaa\n", old: "aa", new: "b", has: []string{"2 times (lines 1, 1)"}},
	{name: "very often", content: strings.Repeat("x\n", 5000), old: "x", new: "y", has: []string{"more than 1000 times (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …)"}},
	{name: "all", content: "x\ny\nx\n", old: "x", new: "z", all: true, want: "z\ny\nz\n", has: []string{"replaced 2 occurrences"}},
	{name: "all, overlapping", content: "aaaa\n", old: "aa", new: "b", all: true, want: "bb\n"},
	{name: "all, none", content: "x\n", old: "nothing like it", new: "z", all: true, has: []string{"not found"}},

	{name: "wrong indent", content: "func f() {\n\t\treturn 1\n}\n", old: "func f() {\n    return 1\n}", new: "x", has: []string{
		"white space only", "     2|→→return 1\n", "→ is a tab",
	}},
	{name: "trailing space", content: "a line \nnext\n", old: "a line\nnext", new: "x", has: []string{"     1|a line·\n     2|next\n"}},
	{name: "typo", content: "one\ntwo\nresult := compute(value)\nfour\n", old: "result := compute(valeu)", new: "x", has: []string{"The nearest lines are:\n     3|result := compute(value)\n"}},
	{name: "typo in a block", content: "zero\nif ok {\n\trun(fast)\n}\n", old: "if ok {\n\trun(slow)\n}", new: "x", has: []string{"     2|if ok {\n     3|→run(fast)\n     4|}\n"}},
	{name: "nothing like it", content: "one\ntwo\n", old: "completely different", new: "x", has: []string{"No line is like it"}},
	{name: "line numbers copied", content: "one\ntwo\n", old: "     1\tone\n     2\ttwo", new: "x", has: []string{"line numbers"}},
	{name: "numbers that are the file's", content: "1\tfoo\n2\tbar\n", old: "1\tfoo\n2\tbaz\n", new: "x", has: []string{"The nearest lines are:\n     1|1→foo"}},
	{name: "blank old in a file without", content: "a\nb\n", old: "\n\n\n", new: "x", has: []string{"not found"}},
}

func TestEditFile(t *testing.T) {
	for _, tt := range editTests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFiles(t)
			f.put(t, "file", tt.content)
			args := map[string]any{"path": "file", "old_text": tt.old, "new_text": tt.new}
			if tt.all {
				args["replace_all"] = true
			}
			got, isError := f.call(t, "edit_file", args)
			want := tt.want
			if want == "" {
				want = tt.content
			}
			if diff := cmp.Diff(want, f.content(t, "file")); diff != "" {
				t.Errorf("content (-want +got):\n%s\nanswer: %s", diff, got)
			}
			if isError != (tt.want == "") {
				t.Errorf("IsError = %v: %s", isError, got)
			}
			for _, has := range tt.has {
				if !strings.Contains(got, has) {
					t.Errorf("answer %q lacks %q", got, has)
				}
			}
		})
	}
}

func TestEditFileKeepsModeAndLink(t *testing.T) {
	f := newFiles(t)
	f.put(t, "script.sh", "echo a\n")
	path := filepath.Join(f.dir, "script.sh")
	if err := os.Chmod(path, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/workspace/script.sh", filepath.Join(f.dir, "link")); err != nil {
		t.Fatal(err)
	}
	got, _ := f.call(t, "edit_file", map[string]any{"path": "link", "old_text": "a", "new_text": "b"})
	if !strings.HasPrefix(got, "edited script.sh (link leads through a link to script.sh)\n") {
		t.Errorf("answer %q", got)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o750 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if target, err := os.Readlink(filepath.Join(f.dir, "link")); err != nil || target != "/workspace/script.sh" {
		t.Errorf("the link leads to %q, %v", target, err)
	}
}

// A new text that is a part of a longer word is not there.
func TestEditFileNewTextInAWord(t *testing.T) {
	f := newFiles(t)
	f.put(t, "file", "discounted = 1\n")
	got, isError := f.call(t, "edit_file", map[string]any{"path": "file", "old_text": "total", "new_text": "count"})
	if !isError || strings.Contains(got, "stands in it") {
		t.Errorf("error %v: %s", isError, got)
	}
}

func TestEditFileRefuses(t *testing.T) {
	f := newFiles(t)
	f.put(t, "big", strings.Repeat("x", 10<<20+1))
	f.put(t, "dir/main.go", "x")
	for path, want := range map[string]string{
		"big":        "over 10 MiB",
		"dir":        "is a folder",
		"dir/man.go": "did you mean dir/main.go?",
		"../x":       "outside the workspace",
	} {
		got, isError := f.call(t, "edit_file", map[string]any{"path": path, "old_text": "a", "new_text": "b"})
		if !isError || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// Edits of one file at once, as calls in one answer of a model, all stay.
func TestEditFileConcurrently(t *testing.T) {
	f := newFiles(t)
	var content strings.Builder
	for i := range 100 {
		fmt.Fprintf(&content, "<%d>\n", i)
	}
	f.put(t, "file", content.String())
	var group sync.WaitGroup
	for i := range 100 {
		group.Go(func() {
			args := map[string]any{"path": "file", "old_text": fmt.Sprintf("<%d>", i), "new_text": fmt.Sprintf("[%d]", i)}
			if got, isError := f.call(t, "edit_file", args); isError {
				t.Error(got)
			}
		})
	}
	group.Wait()
	want := strings.NewReplacer("<", "[", ">", "]").Replace(content.String())
	if diff := cmp.Diff(want, f.content(t, "file")); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
}

// The diff that is answered is the change: applied to the old text it gives
// the new one.
func TestEditFileDiffApplies(t *testing.T) {
	var numbers strings.Builder
	for i := range 200 {
		fmt.Fprintf(&numbers, "%d%s\n", i, strings.Repeat("!", i%3))
	}
	for _, tt := range []struct {
		name, old, new string
		all            bool
	}{
		{"one", "100!\n", "hundred\n", false},
		{"first", "0\n1!\n", "", false},
		{"last", "\n199!\n", "\nend", false},
		{"near and far apart", "7!!", "seven\nand more", true},
		{"many", "!!\n", "\n", true},
		{"lines taken out", "3\n", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFiles(t)
			f.put(t, "file", numbers.String())
			args := map[string]any{"path": "file", "old_text": tt.old, "new_text": tt.new, "replace_all": tt.all}
			got, isError := f.call(t, "edit_file", args)
			if isError {
				t.Fatal(got)
			}
			_, diff, _ := strings.Cut(got, "\n")
			if n := strings.Count(numbers.String(), tt.old); n > 50 {
				if !strings.Contains(diff, fmt.Sprintf("[%d further replacements not shown]", n-50)) {
					t.Errorf("the diff does not say what it leaves out: %q", diff)
				}
				return
			}
			if applied := patch(t, numbers.String(), diff); applied != f.content(t, "file") {
				t.Errorf("applied diff (-file +applied):\n%s", cmp.Diff(f.content(t, "file"), applied))
			}
		})
	}
}

// patch applies a unified diff, and holds the line numbers of its hunks against
// where they really are.
func patch(t *testing.T, before, diff string) string {
	t.Helper()
	lines := strings.SplitAfter(before, "\n")
	var after []string
	at := 0
	for _, l := range strings.SplitAfter(diff, "\n") {
		switch {
		case l == "" || strings.HasPrefix(l, "---") || strings.HasPrefix(l, "+++"):
		case strings.HasPrefix(l, "@@"):
			var from, to int
			for _, part := range strings.Fields(l)[1:3] {
				number := &from
				if part[0] == '+' {
					number = &to
				}
				if _, err := fmt.Sscanf(part[1:], "%d", number); err != nil {
					t.Fatalf("hunk %q: %v", l, err)
				}
			}
			after = append(after, lines[at:from-1]...)
			if at = from - 1; len(after) != to-1 {
				t.Errorf("hunk %q is at line %d of the new file", l, len(after)+1)
			}
		case strings.HasPrefix(l, "\\"): // the line before has no newline
			after[len(after)-1] = strings.TrimSuffix(after[len(after)-1], "\n")
		case l[0] == '+':
			after = append(after, l[1:])
		default:
			if at >= len(lines) || lines[at] != l[1:] {
				t.Fatalf("line %q of the diff is not line %d of the file", l, at+1)
			}
			if l[0] == ' ' {
				after = append(after, lines[at])
			}
			at++
		}
	}
	return strings.Join(append(after, lines[at:]...), "")
}

// The diff of a line of any length shows the change in it.
func TestEditFileDiffOfALongLine(t *testing.T) {
	f := newFiles(t)
	long := strings.Repeat("é中", 100_000)
	f.put(t, "file", "before\n"+long+"mark"+long+"\nafter\n")
	got, isError := f.call(t, "edit_file", map[string]any{"path": "file", "old_text": "mark", "new_text": "MARK"})
	short := strings.Repeat("é中", 10)
	for _, want := range []string{" before\n-…", short + "mark" + short, short + "MARK" + short, "…\n after\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the answer lacks %q: %q", want, got)
		}
	}
	if isError || len(got) > 2000 || !utf8.ValidString(got) {
		t.Errorf("answer of %d bytes: %q", len(got), got)
	}
}

func TestEditFileDiffIsBounded(t *testing.T) {
	f := newFiles(t)
	f.put(t, "file", "mark\n"+strings.Repeat("x", 100_000)+"\n")
	got, _ := f.call(t, "edit_file", map[string]any{"path": "file", "old_text": "mark", "new_text": strings.Repeat("new line\n", 3000)})
	if n := utf8.RuneCountInString(got); n > 9000 {
		t.Errorf("%d characters", n)
	}
	if !strings.Contains(got, "further lines of the diff not shown]") {
		t.Errorf("the diff does not say that it was cut: %q", got[len(got)-100:])
	}
}
