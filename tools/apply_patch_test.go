package tools_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type patchTest struct {
	name, content, patch string // of the file "file", without the lines around
	want                 string // "" when refused
	has                  []string
}

var patchTests = []patchTest{
	{name: "one line", content: "a\nb\nc\n", patch: "@@\n a\n-b\n+B\n c\n", want: "a\nB\nc\n", has: []string{"edited file\n--- file\n+++ file\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"}},
	{name: "without @@", content: "a\nb\n", patch: "-b\n+B\n", want: "a\nB\n"},
	{name: "several chunks", content: "a\nb\nc\nd\ne\n", patch: "@@\n-a\n+A\n@@\n d\n-e\n+E\n+f\n", want: "A\nb\nc\nd\nE\nf\n"},
	{name: "chunks in another order", content: "a\nb\nc\n", patch: "@@\n-c\n+C\n@@\n-a\n+A\n", want: "A\nb\nC\n"},
	{name: "by a header", content: "f:\n  x\ng:\n  x\n", patch: "@@ g:\n-  x\n+  y\n", want: "f:\n  x\ng:\n  y\n"},
	{name: "by the start of a header", content: "class A(B):\n  x\nclass C(D):\n  x\n", patch: "@@ class C\n-  x\n+  y\n", want: "class A(B):\n  x\nclass C(D):\n  y\n"},
	{name: "by the start of a header, a whole word", content: "def foobar():\n  x\ndef foo(a):\n  x\n", patch: "@@ def foo\n-  x\n+  y\n", want: "def foobar():\n  x\ndef foo(a):\n  y\n"},
	{name: "by a header that is the start of a word", content: "def foobar():\n  x\ndef c():\n  x\n", patch: "@@ def foo\n-  x\n+  y\n", want: "def foobar():\n  y\ndef c():\n  x\n", has: []string{`[no line is "def foo"`}},
	{name: "by a header that is a line before the other", content: "class A\n  def f\n    x\nclass B\n  def f(a)\n    x\n", patch: "@@ class B\n@@ def f\n-    x\n+    y\n", want: "class A\n  def f\n    x\nclass B\n  def f(a)\n    y\n"},
	{name: "by two headers", content: "class A\n  def f\n    x\nclass B\n  def f\n    x\n", patch: "@@ class B\n@@ def f\n-    x\n+    y\n", want: "class A\n  def f\n    x\nclass B\n  def f\n    y\n"},
	{name: "by a header that stays as well", content: "f:\n  x\ng:\n  x\n", patch: "@@ g:\n g:\n-  x\n+  y\n", want: "f:\n  x\ng:\n  y\n"},
	{name: "by a header that goes", content: "f()\n  x\nf()\n  z\n", patch: "@@ f()\n-f()\n+g()\n   z\n", want: "f()\n  x\ng()\n  z\n"},
	{name: "behind the chunk before", content: "x\na\nx\n", patch: "@@\n-a\n+A\n@@\n-x\n+y\n", want: "x\nA\ny\n"},
	{name: "numbers of a unified diff", content: "a\nb\n", patch: "@@ -7,1 +7,1 @@ func main() {\n-b\n+B\n", want: "a\nB\n"},
	{name: "numbers alone", content: "a\nb\n", patch: "@@ -7,1 +7,1 @@\n-b\n+B\n", want: "a\nB\n"},
	{name: "insertion behind a header", content: "a\nb\n", patch: "@@ a\n+x\n", want: "a\nx\nb\n"},
	{name: "insertion at the end", content: "a\nb\n", patch: "+x\n", want: "a\nb\nx\n"},
	{name: "insertion at an end without newline", content: "a\nb", patch: "+x\n", want: "a\nb\nx"},
	{name: "at the end", content: "x\na\nx\n", patch: "@@\n-x\n+y\n*** End of File\n", want: "x\na\ny\n"},
	{name: "no newline at the end", content: "a\nb", patch: " a\n-b\n+c\n", want: "a\nc"},
	{name: "an empty line without its space", content: "a\n\nb\n", patch: " a\n\n-b\n+c\n", want: "a\n\nc\n"},
	{name: "empty lines between chunks", content: "a\nb\nc\n", patch: "@@\n-a\n+A\n\n@@\n-c\n+C\n\n", want: "A\nb\nC\n"},
	{name: "deletion", content: "a\nb\nc\n", patch: " a\n-b\n c\n", want: "a\nc\n"},
	{name: "all lines", content: "a\n", patch: "-a\n", want: "\x00"},
	{name: "CRLF", content: "a\r\nb\r\nc\r\n", patch: " a\n-b\n+B\n+B2\n c\n", want: "a\r\nB\r\nB2\r\nc\r\n"},
	{name: "mixed ends stay", content: "a\r\nb\nc\r\nd\n", patch: " a\n-b\n+x\n+y\n c\n d\n", want: "a\r\nx\ny\nc\r\nd\n"},
	{name: "byte order mark", content: "\xef\xbb\xbfa\nb\n", patch: "-b\n+c\n", want: "\xef\xbb\xbfa\nc\n"},
	{name: "Latin-1", content: "caf\xe9\nx\n", patch: " caf⟦e9⟧\n-x\n+y\n", want: "caf\xe9\ny\n"},
	{name: "other indentation", content: "\tif a {\n\t\tb()\n\t}\n", patch: "     if a {\n-        b()\n+        c()\n     }\n", want: "\tif a {\n\t\tc()\n\t}\n", has: []string{"only place that differs in no more than white space"}},
	{name: "trailing space in a line that stays", content: "a  \nb\n", patch: " a\n-b\n+c\n", want: "a  \nc\n", has: []string{"line"}},
	{name: "marks that were lost", content: "def f():\n    a()\n    b()\n", patch: "@@\n    a()\n+    new()\n    b()\n", want: "def f():\n    a()\n    new()\n    b()\n", has: []string{"start with a space"}},
	{name: "a mark that was lost", content: "def f():\n    a()\n    b()\n", patch: "@@\n def f():\n    a()\n+    new()\n", want: "def f():\n    a()\n    new()\n    b()\n", has: []string{"start with a space"}},
	{name: "marks that were lost, behind a header", content: "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n",
		patch: "@@ class A:\n    def f(self):\n        return 1\n+\n+    def h(self):\n+        return 3\n",
		want:  "class A:\n    def f(self):\n        return 1\n\n    def h(self):\n        return 3\n\n    def g(self):\n        return 2\n"},
	{name: "a mark that was lost at an end without newline", content: "f:\n  a", patch: "@@\n  a\n+  b\n", want: "f:\n  a\n  b"},
	{name: "numbers alone, in an empty file", content: "", patch: "@@ -0,0 +1 @@\n+x\n", want: "x\n"},

	{name: "only new lines at a number", content: "a\nb\n", patch: "@@ -1,2 +1,3 @@\n+first\n", has: []string{"add a line that stays"}},
	{name: "only new lines at a number with a line", content: "a\nb\n", patch: "@@ -1,2 +1,3 @@ a\n+first\n", has: []string{"add a line that stays"}},
	{name: "only new lines before an empty one and a chunk", content: "\na\n", patch: "@@\n+x\n\n@@\n-a\n+b\n", has: []string{"chunk 1 of 2: it is not clear", "start lines that stay with a space"}},
	{name: "new lines at the end before an empty one and a chunk", content: "\na\n", patch: "@@\n+x\n*** End of File\n\n@@\n-a\n+b\n", want: "\nb\nx\n"},
	{name: "lines that are not there", content: "a\nb\n", patch: " x\n-b\n+c\n", has: []string{"not found"}},
	{name: "lines in several places", content: "x\na\nx\n", patch: "-x\n+y\n", has: []string{"2 times (lines 1, 3)", "@@"}},
	{name: "not at the end", content: "x\na\n", patch: "-x\n+y\n*** End of File\n", has: []string{"its lines stand in it (lines 1), but not where @@ or *** End of File say"}},
	{name: "before its header", content: "x\na\n", patch: "@@ a\n-x\n+y\n", has: []string{"its lines stand in it (lines 1), but not where"}},
	{name: "applied already", content: "one\nchanged line\ntwo\n", patch: " one\n-first line\n+changed line\n two\n", has: []string{"its new lines stand in it (lines 1-3)", "applied already"}},
	{name: "overlapping", content: "a\nb\nc\n", patch: "@@\n a\n-b\n+x\n@@\n-b\n c\n", has: []string{"edits 1 and 2 overlap"}},
	{name: "a missing header", content: "def f\n  x\n", patch: "@@ def g\n-  x\n+  y\n", has: []string{`no line "def g"`, "def f"}},
	{name: "one of two chunks", content: "a\nb\n", patch: "@@\n-a\n+A\n@@\n-x\n+y\n", has: []string{"chunk 2 of 2"}},
	{name: "only lines that stay", content: "a\n", patch: " a\n", has: []string{"no line that starts with + or -"}},
	{name: "too many headers", content: "a\n", patch: strings.Repeat("@@ a\n", 21) + "-a\n+b\n", has: []string{"20 lines @@ at most"}},
	{name: "a line without mark", content: "a\n", patch: "@@\n-a\nb\n", has: []string{`line 5 of the patch: "b" starts with none`}},
	{name: "no chunk", content: "a\n", patch: "", has: []string{"changes nothing"}},
	{name: "no change", content: "a\n", patch: "-a\n+a\n", has: []string{"was not changed: the new text would make the same bytes"}},
}

func TestApplyPatch(t *testing.T) {
	for _, tt := range patchTests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFiles(t)
			f.put(t, "file", tt.content)
			f.call(t, "read_file", map[string]any{"path": "file"})
			got, isError := f.call(t, "apply_patch", map[string]any{
				"patch": "*** Begin Patch\n*** Update File: file\n" + tt.patch + "*** End Patch\n",
			})
			want := tt.want
			switch want {
			case "":
				want = tt.content
			case "\x00":
				want = ""
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

// tree is all files of the workspace with their contents.
func (f *files) tree(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(f.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(f.dir, path)
		found[name] = f.content(t, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestApplyPatchFiles(t *testing.T) {
	before := map[string]string{"a": "one\n", "dir/b": "two\n", "c": "three\n", "d": "four\r\n"}
	for _, tt := range []struct {
		name, patch string
		want        map[string]string // nil when refused
		has         []string
	}{
		{
			name:  "all kinds",
			patch: "*** Add File: new/file\n+x\n+\n+y\n*** Update File: a\n-one\n+1\n*** Delete File: c\n*** Update File: d\n*** Move to: dir/e\n-four\n+4\n",
			want:  map[string]string{"a": "1\n", "dir/b": "two\n", "dir/e": "4\r\n", "new/file": "x\n\ny\n"},
			has:   []string{"added new/file: 3 lines\n", "edited a\n", "deleted c\n", "moved d to dir/e\n--- dir/e\n"},
		},
		{name: "only a new name", patch: "*** Update File: a\n*** Move to: x/y\n", want: map[string]string{"x/y": "one\n", "dir/b": "two\n", "c": "three\n", "d": "four\r\n"}, has: []string{"moved a to x/y"}},
		{name: "updates of one file apart", patch: "*** Update File: a\n+x\n*** Delete File: d\n*** Update File: a\n-one\n+1\n", want: map[string]string{"a": "1\nx\n", "dir/b": "two\n", "c": "three\n"}},
		{name: "an empty file", patch: "*** Add File: new\n", want: map[string]string{"a": "one\n", "dir/b": "two\n", "c": "three\n", "d": "four\r\n", "new": ""}},
		{name: "one of several", patch: "*** Add File: new/deep/file\n+x\n*** Update File: a\n-none\n+1\n*** Delete File: c\n*** Update File: gone\n-x\n+y\n", has: []string{"nothing was changed, in none of the files", "a: its lines were not found", `"gone": does not exist`}},
		{name: "a file to add is there", patch: "*** Update File: a\n-one\n+1\n*** Add File: c\n+x\n", has: []string{"exists already"}},
		{name: "the new name is taken", patch: "*** Update File: a\n*** Move to: c\n", has: []string{"leads to c, which exists already"}},
		{name: "moved to itself", patch: "*** Update File: a\n*** Move to: ./a\n-one\n+1\n", has: []string{"leads to the file itself: leave that line out"}},
		{name: "deleted and added", patch: "*** Delete File: a\n*** Add File: a\n+1\n", has: []string{"write_file", "*** Update File: alone"}},
		{name: "moved and added", patch: "*** Update File: a\n*** Move to: x\n*** Add File: a\n+1\n", has: []string{"a second call"}},
		{name: "the same file twice", patch: "*** Update File: a\n-one\n+1\n*** Delete File: a\n", has: []string{"the same file"}},
		{name: "added twice", patch: "*** Add File: x\n+1\n*** Add File: x\n+2\n", has: []string{"the same file"}},
		{name: "outside", patch: "*** Update File: a\n-one\n+1\n*** Add File: ../x\n+1\n", has: []string{"outside the workspace"}},
		{name: "outside by its new name", patch: "*** Update File: a\n*** Move to: /tmp/x\n", has: []string{"outside the workspace"}},
		{name: "a folder", patch: "*** Delete File: dir\n", has: []string{"is a folder"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFiles(t)
			for name, content := range before {
				f.put(t, name, content)
				f.call(t, "read_file", map[string]any{"path": name})
			}
			got, isError := f.call(t, "apply_patch", map[string]any{"patch": "*** Begin Patch\n" + tt.patch + "*** End Patch"})
			want := tt.want
			if want == nil {
				want = before
			}
			if diff := cmp.Diff(want, f.tree(t)); diff != "" || isError != (tt.want == nil) {
				t.Errorf("IsError = %v: %s\nfiles (-want +got):\n%s", isError, got, diff)
			}
			if _, err := os.Stat(filepath.Join(f.dir, "new")); tt.want == nil && err == nil {
				t.Error("a folder was left behind")
			}
			for _, has := range tt.has {
				if !strings.Contains(got, has) {
					t.Errorf("answer %q lacks %q", got, has)
				}
			}
		})
	}
}

func TestApplyPatchForms(t *testing.T) {
	const body = "*** Begin Patch\n*** Update File: file\n-a\n+b\n*** End Patch"
	for name, tt := range map[string]struct{ patch, want string }{
		"as a command":   {"apply_patch <<'EOF'\n" + body + "\nEOF\n", "b\n"},
		"fenced":         {"```\n" + body + "\n```", "b\n"},
		"two patches":    {body + "\n\n" + strings.ReplaceAll(body, "-a\n+b", "+c") + "\n", "b\nc\n"},
		"more behind":    {body + "\n*** Update File: file\n+c\n*** End Patch", "a\n"},
		"ended twice":    {body + "\n*** End Patch\n", "b\n"},
		"in CRLF":        {strings.ReplaceAll(body, "\n", "\r\n"), "b\n"},
		"cut":            {strings.TrimSuffix(body, "*** End Patch"), "a\n"},
		"no patch":       {"--- file\n+++ file\n", "a\n"},
		"empty":          {"*** Begin Patch\n*** End Patch", "a\n"},
		"unknown action": {"*** Begin Patch\n*** Rename File: file\n*** End Patch", "a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFiles(t)
			f.put(t, "file", "a\n")
			got, isError := f.call(t, "apply_patch", map[string]any{"patch": tt.patch})
			if content := f.content(t, "file"); content != tt.want || isError != (tt.want == "a\n") {
				t.Errorf("content %q, answer %q", content, got)
			}
		})
	}
}
