package tools_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/belljar/belljar/tools"
)

func TestGrep(t *testing.T) {
	f := newFiles(t)
	for name, content := range map[string]string{
		"main.go":             "package main\n\nfunc main() {\n\trun()\n}\n",
		"src/run.go":          "package main\n\nfunc run() {\n\t// TODAY\n}\n\nfunc stop() {}\n",
		"src/crlf.txt":        "one\r\ntwo\r\nthree\r\n",
		"src/mark.txt":        "\xef\xbb\xbfmarked\nlast",
		".github/ci.yml":      "run: make\n",
		".gitignore":          "build/\n",
		"build/out.go":        "func run() {}\n",
		".git/config":         "func run() {}\n",
		"latin.txt":           "caf\xe9 au lait\n",
		"esc.txt":             "\x1b[31mred\n",
		"wide.txt":            "UTF-16 follows\n",
		"utf16.txt":           "\xff\xfew\x00i\x00d\x00e\x00\n\x00",
		"bin.dat":             "func run\x00\x01\x02",
		"long.js":             strings.Repeat("é", 300_000) + "needle" + strings.Repeat("é", 300_000) + "\nneedle again\n",
		"odd\nname.txt":       "unique\n",
		"numbers.txt":         numbers(500),
		"dir/a":               "deep\n",
		"dir-b":               "deep\n",
		"with space/file.txt": "spaced\n",
	} {
		f.put(t, name, content)
	}
	f.link(t, "src", "linked")
	f.link(t, "src/run.go", "alias.go")
	f.link(t, "..", "loop")
	f.link(t, "/etc", "out")
	for _, tt := range []struct {
		name    string
		args    map[string]any
		want    string
		has     []string
		lacks   []string
		isError bool
	}{
		{name: "lines", args: map[string]any{"pattern": `func \w+\(`, "glob": "*.go"}, want: "main.go\n3:func main() {\n\nsrc/run.go\n3:func run() {\n7:func stop() {}\n"},
		{name: "context", args: map[string]any{"pattern": "TODAY|package", "path": "src/run.go", "context": 1}, want: "src/run.go\n1:package main\n2-\n3-func run() {\n4:\t// TODAY\n5-}\n"},
		{name: "a gap in the context", args: map[string]any{"pattern": "package|stop", "path": "src/run.go", "context": 1}, want: "src/run.go\n1:package main\n2-\n--\n6-\n7:func stop() {}\n"},
		{name: "files", args: map[string]any{"pattern": "run", "mode": "files"}, want: ".github/ci.yml\nmain.go\nsrc/run.go\n"},
		{name: "count", args: map[string]any{"pattern": "main|run", "mode": "count"}, want: ".github/ci.yml: 1\nmain.go: 3\nsrc/run.go: 2\n[6 matching lines in 3 files]\n"},
		{name: "ignored", args: map[string]any{"pattern": `func run`, "mode": "files", "ignored": true}, want: "build/out.go\nsrc/run.go\n"},
		{name: "a folder that is ignored, named", args: map[string]any{"pattern": "run", "path": "build", "mode": "files"}, want: "build/out.go\n"},
		{name: "links are not followed", args: map[string]any{"pattern": "TODAY|root:", "mode": "files"}, want: "src/run.go\n"},
		{name: "a link that is named is followed", args: map[string]any{"pattern": "TODAY", "path": "linked"}, want: "src/run.go\n4:\t// TODAY\n"},
		{name: "a link to a file", args: map[string]any{"pattern": "TODAY", "path": "alias.go"}, want: "src/run.go\n4:\t// TODAY\n"},
		{name: "without a file", args: map[string]any{"pattern": "run", "glob": "!*.go", "mode": "files"}, want: ".github/ci.yml\n"},
		{name: "glob with folders", args: map[string]any{"pattern": "func", "glob": "src/**/*.go", "mode": "files"}, want: "src/run.go\n"},
		{name: "case", args: map[string]any{"pattern": "today", "ignore_case": true, "mode": "files"}, want: "src/run.go\n"},
		{name: "literal", args: map[string]any{"pattern": "run()", "literal": true, "mode": "count"}, want: "main.go: 1\nsrc/run.go: 1\n[2 matching lines in 2 files]\n"},
		{name: "multiline", args: map[string]any{"pattern": `main\(\) \{..run`, "multiline": true}, want: "main.go\n3:func main() {\n4:\trun()\n"},
		{name: "the end of a CRLF line", args: map[string]any{"pattern": "two$"}, want: "src/crlf.txt\n2:two\n"},
		{name: "the beginning after a byte order mark", args: map[string]any{"pattern": "^marked"}, want: "src/mark.txt\n1:marked\n"},
		{name: "the last line without an end", args: map[string]any{"pattern": "last$"}, want: "src/mark.txt\n2:last\n"},
		{name: "UTF-16", args: map[string]any{"pattern": "^wide$"}, want: "utf16.txt\n1:wide\n"},
		{name: "bytes that are not UTF-8", args: map[string]any{"pattern": "au lait"}, has: []string{"latin.txt\n1:caf⟦e9⟧ au lait\n", "shown as ⟦hh⟧"}},
		{name: "a spelled byte", args: map[string]any{"pattern": "caf⟦e9⟧"}, has: []string{"1:caf⟦e9⟧ au"}},
		{name: "a spelled control byte", args: map[string]any{"pattern": "⟦1b⟧[31m", "literal": true}, has: []string{"esc.txt\n1:⟦1b⟧[31mred\n"}},
		{name: "a binary file", args: map[string]any{"pattern": "func run", "path": "bin.dat"}, has: []string{"binary file"}, isError: true},
		{name: "binary files are passed over", args: map[string]any{"pattern": "func run", "glob": "*.dat"}, has: []string{"nothing matches in the workspace (0 files searched)\n[1 binary file passed over]\n"}},
		{name: "a name on two lines", args: map[string]any{"pattern": "unique"}, want: "odd⟦0a⟧name.txt\n1:unique\n"},
		{name: "folders before names that go on", args: map[string]any{"pattern": "deep", "mode": "files"}, want: "dir/a\ndir-b\n"},
		{name: "a space", args: map[string]any{"pattern": "spaced", "path": "with space"}, want: "with space/file.txt\n1:spaced\n"},
		{name: "many in one file of a folder", args: map[string]any{"pattern": "number"}, has: []string{"50:number 50\n[50 of 500 matching lines in this file are shown; give it as path for more]\n"}, lacks: []string{"51:", "more matches exist"}},
		{name: "many in a file that is named", args: map[string]any{"pattern": "number", "path": "numbers.txt", "limit": 120}, has: []string{"120:number 120\n[120 of 500 matching lines in this file are shown]\n"}},
		{name: "limit", args: map[string]any{"pattern": "deep", "limit": 1}, want: "dir/a\n1:deep\n[more matches exist in files after these: narrow the pattern, path or glob, or raise limit (at most 1000)]\n"},
		{name: "limit of files", args: map[string]any{"pattern": "deep", "mode": "files", "limit": 1}, want: "dir/a\n[more files match: narrow the pattern, path or glob, or raise limit (at most 1000)]\n"},
		{name: "limit of counts", args: map[string]any{"pattern": "deep", "mode": "count", "limit": 1}, has: []string{"dir/a: 1\n[2 matching lines in 2 files]\n[more files match"}, lacks: []string{"dir-b"}},
		{name: "exactly the limit", args: map[string]any{"pattern": "deep", "limit": 2}, want: "dir/a\n1:deep\n\ndir-b\n1:deep\n"},
		{name: "nothing", args: map[string]any{"pattern": "zzzz", "path": "src"}, want: "nothing matches in src (3 files searched)\n"},
		{name: "only ignored files match", args: map[string]any{"pattern": "zzzz"}, has: []string{"1 name left out by .gitignore"}},
		{name: "a bad expression", args: map[string]any{"pattern": "run("}, has: []string{"set literal"}, isError: true},
		{name: "lookahead", args: map[string]any{"pattern": "run(?!x)"}, has: []string{"no lookaround"}, isError: true},
		{name: "a newline", args: map[string]any{"pattern": `a\nb`}, has: []string{"set multiline"}, isError: true},
		{name: "empty", args: map[string]any{"pattern": ""}, has: []string{"is empty"}, isError: true},
		{name: "a bad glob", args: map[string]any{"pattern": "x", "glob": "{a"}, has: []string{"malformed"}, isError: true},
		{name: "a bad mode", args: map[string]any{"pattern": "x", "mode": "lines"}, has: []string{"mode"}, isError: true},
		{name: "a mode that is none", args: map[string]any{"pattern": "x", "mode": "wat"}, has: []string{`- "mode" is "wat", and must be one of "content", "files", "count"`}, isError: true},
		{name: "a path that is missing", args: map[string]any{"pattern": "x", "path": "src/rum.go"}, has: []string{"did you mean src/run.go?"}, isError: true},
		{name: "outside through a link", args: map[string]any{"pattern": "x", "path": "out"}, has: []string{"outside the workspace"}, isError: true},
		{name: "outside", args: map[string]any{"pattern": "x", "path": "/etc/passwd"}, has: []string{"outside the workspace"}, isError: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, isError := f.call(t, "grep", tt.args)
			if isError != tt.isError || tt.want != "" && got != tt.want {
				t.Errorf("got %.500q (error: %v)\nwant %q", got, isError, tt.want)
			}
			for _, has := range tt.has {
				if !strings.Contains(got, has) {
					t.Errorf("%.500q lacks %q", got, has)
				}
			}
			for _, lacks := range tt.lacks {
				if strings.Contains(got, lacks) {
					t.Errorf("%.500q holds %q", got, lacks)
				}
			}
		})
	}
}

func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "number %d\n", i+1)
	}
	return b.String()
}

// A long line is clipped around its match, on the bounds of characters, and
// that is told apart from there being more.
func TestGrepClips(t *testing.T) {
	f := newFiles(t)
	f.put(t, "long.js", strings.Repeat("é", 300_000)+"needle"+strings.Repeat("中", 300_000)+"\nneedle again\n")
	got, _ := f.call(t, "grep", map[string]any{"pattern": "needle"})
	if !utf8.ValidString(got) || len(got) > 2000 {
		t.Errorf("%d bytes, valid: %v", len(got), utf8.ValidString(got))
	}
	for _, has := range []string{
		"long.js\n1:⟦5998", " bytes before …⟧éé", "éneedle中", "中⟦… 8997", " more bytes in this line⟧\n2:needle again\n",
		"[1 line clipped around the match",
	} {
		if !strings.Contains(got, has) {
			t.Errorf("%q lacks %q", got, has)
		}
	}
	if strings.Contains(got, "exist") || strings.Contains(got, "⟦e") {
		t.Errorf("%q", got)
	}
}

// What is shown is bounded, however long the lines and however many.
func TestGrepBounds(t *testing.T) {
	f := newFiles(t)
	for i := range 60 {
		f.put(t, fmt.Sprintf("f%02d", i), strings.Repeat("needle "+strings.Repeat("x", 2000)+"\n", 60))
	}
	first, _ := f.call(t, "grep", map[string]any{"pattern": "needle", "limit": 1000, "context": 20})
	if len(first) > 2*tools.GrepBytes {
		t.Errorf("%d bytes", len(first))
	}
	if !strings.HasPrefix(first, "f00\n1:needle") || !strings.Contains(first, "more matches exist in files after these") ||
		!strings.Contains(first, "lines clipped around the match") {
		t.Errorf("%.300q … %.600q", first, first[len(first)-600:])
	}
	for range 10 {
		if again, _ := f.call(t, "grep", map[string]any{"pattern": "needle", "limit": 1000, "context": 20}); again != first {
			t.Fatal("another answer")
		}
	}
}

// Names are whole, however long, and bounded together.
func TestSearchLongNames(t *testing.T) {
	f := newFiles(t)
	deep := strings.Repeat(strings.Repeat("d", 100)+"/", 10)
	for i := range 100 {
		f.put(t, fmt.Sprintf("%sf%02d", deep, i), "needle\n")
	}
	for tool, args := range map[string]map[string]any{
		"glob": {"pattern": "**"},
		"grep": {"pattern": "needle", "mode": "files"},
	} {
		got, _ := f.call(t, tool, args)
		if first, _, _ := strings.Cut(got, "\n"); !strings.HasPrefix(first, deep+"f") || len(first) != len(deep)+3 {
			t.Errorf("%s: the first is %q", tool, first)
		}
		if len(got) > tools.GrepBytes+300 || !strings.Contains(got, "more") {
			t.Errorf("%s: %d bytes, ending in %q", tool, len(got), got[max(len(got)-200, 0):])
		}
	}
}

// A match of many lines is cut, and that is said.
func TestGrepLongMatch(t *testing.T) {
	f := newFiles(t)
	f.put(t, "file", "begin\n"+numbers(100)+"end\n")
	got, _ := f.call(t, "grep", map[string]any{"pattern": "begin.*end", "multiline": true})
	if !strings.Contains(got, "\n50:number 49\n[1 occurrence cut after 50 lines]\n") {
		t.Errorf("got %q", got)
	}
}

// A limit counts matches, also where one has several lines, or several are in
// one.
func TestGrepLimitsMatches(t *testing.T) {
	f := newFiles(t)
	f.put(t, "file", "a\nb\n-\na\nb a\nb\n-\n-\n")
	for _, tt := range []struct {
		limit int
		want  string
	}{
		{1, "file\n1:a\n2:b\n3--\n[1 of 3 occurrences in this file are shown; give it as path for more]\n"},
		{2, "file\n1:a\n2:b\n3--\n4:a\n5:b a\n[2 of 3 occurrences in this file are shown; give it as path for more]\n"},
		{3, "file\n1:a\n2:b\n3--\n4:a\n5:b a\n6:b\n7--\n"},
	} {
		got, _ := f.call(t, "grep", map[string]any{"pattern": `a\nb`, "multiline": true, "context": 1, "limit": tt.limit})
		if got != tt.want {
			t.Errorf("limit %d: %q, want %q", tt.limit, got, tt.want)
		}
	}
}

// A file that is larger than what is held in memory is searched in pieces.
func TestGrepHugeFile(t *testing.T) {
	f := newFiles(t)
	line := strings.Repeat("filler ", 20) + "\n"
	f.put(t, "huge", strings.Repeat(line, 80_000)+"before\nneedle\nafter\n"+strings.Repeat(line, 10))
	got, _ := f.call(t, "grep", map[string]any{"pattern": "needle", "context": 1})
	if want := "huge\n80001-before\n80002:needle\n80003-after\n"; got != want {
		t.Errorf("got %.300q, want %q", got, want)
	}
	got, _ = f.call(t, "grep", map[string]any{"pattern": "needle.after", "multiline": true})
	if !strings.Contains(got, "1 file too large for multiline") {
		t.Errorf("got %.300q", got)
	}
}

// A line that is longer than half of what is held is searched in pieces, which
// is said.
func TestGrepHugeLine(t *testing.T) {
	f := newFiles(t)
	f.put(t, "huge", "first needle\n"+strings.Repeat("x", 5<<20)+"needle\nlast needle\n")
	got, _ := f.call(t, "grep", map[string]any{"pattern": "needle"})
	if !strings.HasPrefix(got, "huge\n1:first needle\n2:") || !strings.Contains(got, "\n3:last needle\n") ||
		!strings.Contains(got, "[in 1 file lines of more than 2 MiB were searched in pieces: matches across two are missed]") {
		t.Errorf("got %.2000q", got)
	}
}
