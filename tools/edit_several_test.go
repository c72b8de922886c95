package tools_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func ed(old, new string) map[string]any { return map[string]any{"old_text": old, "new_text": new} }

func TestEditFileSeveral(t *testing.T) {
	before := map[string]string{"a": "one\ntwo\r\nthree\n", "dir/b": "uno\n", "c": "x x x\n"}
	many := make([]any, 501)
	for i := range many {
		many[i] = ed("a", "b")
	}
	manyFiles := make([]any, 101)
	for i := range manyFiles {
		manyFiles[i] = map[string]any{"path": fmt.Sprint(i), "edits": []any{ed("a", "b")}}
	}
	for _, tt := range []struct {
		name string
		args map[string]any
		want map[string]string // what differs; nil when refused
		has  []string
	}{
		{name: "edits", args: map[string]any{"path": "a", "edits": []any{ed("three", "3"), ed("one", "1")}},
			want: map[string]string{"a": "1\ntwo\r\n3\n"}, has: []string{"edited a\n--- a\n", "-one\n+1\n"}},
		{name: "all against the original", args: map[string]any{"path": "a", "edits": []any{ed("one", "two"), ed("two", "one")}},
			want: map[string]string{"a": "two\none\r\nthree\n"}},
		{name: "touching", args: map[string]any{"path": "a", "edits": []any{ed("one\n", "1\n"), ed("two\n", "2\n")}},
			want: map[string]string{"a": "1\n2\r\nthree\n"}},
		{name: "one for all", args: map[string]any{"path": "c", "edits": []any{map[string]any{"old_text": "x", "new_text": "y", "replace_all": true}}},
			want: map[string]string{"c": "y y y\n"}, has: []string{"replaced 3 occurrences"}},
		{name: "files", args: map[string]any{"files": []any{
			map[string]any{"path": "a", "edits": []any{ed("one", "1"), ed("two", "2")}},
			map[string]any{"path": "dir/b", "edits": []any{ed("uno", "due")}},
		}}, want: map[string]string{"a": "1\n2\r\nthree\n", "dir/b": "due\n"}, has: []string{"edited a\n", "edited dir/b\n"}},
		{name: "empty lists beside the flat form", args: map[string]any{"path": "a", "old_text": "one", "new_text": "1", "edits": []any{}, "files": []any{}},
			want: map[string]string{"a": "1\ntwo\r\nthree\n"}},
		{name: "blanks beside edits", args: map[string]any{"path": "a", "old_text": "", "new_text": "", "replace_all": false, "edits": []any{ed("one", "1")}},
			want: map[string]string{"a": "1\ntwo\r\nthree\n"}},
		{name: "blanks beside files", args: map[string]any{"path": "", "old_text": "", "new_text": "", "edits": []any{}, "files": []any{
			map[string]any{"path": "a", "old_text": "", "new_text": "", "edits": []any{ed("one", "1")}}}}, want: map[string]string{"a": "1\ntwo\r\nthree\n"}},
		{name: "nulls", args: map[string]any{"path": nil, "replace_all": nil, "files": []any{map[string]any{"path": "a", "old_text": nil, "replace_all": nil,
			"edits": []any{map[string]any{"old_text": "one", "new_text": "1", "replace_all": nil}}}}}, want: map[string]string{"a": "1\ntwo\r\nthree\n"}},

		{name: "all beside edits", args: map[string]any{"path": "c", "replace_all": true, "edits": []any{ed("x", "1")}}, has: []string{"replace_all is there beside"}},
		{name: "all beside files", args: map[string]any{"replace_all": true, "files": []any{map[string]any{"path": "c", "edits": []any{ed("x", "1")}}}}, has: []string{"replace_all is there beside"}},
		{name: "null for a text", args: map[string]any{"path": "a", "edits": []any{map[string]any{"old_text": "one", "new_text": nil}}}, has: []string{"the arguments of edit_file are wrong"}},
		{name: "overlapping", args: map[string]any{"path": "a", "edits": []any{ed("two\nthree", "x"), ed("one\ntwo", "y")}},
			has: []string{"edits 1 and 2 overlap (lines 2-3)"}},
		{name: "the same twice", args: map[string]any{"path": "a", "edits": []any{ed("one", "x"), ed("one", "y")}}, has: []string{"edits 1 and 2 overlap (line 1)"}},
		{name: "one that is not there", args: map[string]any{"path": "a", "edits": []any{ed("one", "1"), ed("nowhere to be found", "y"), ed("x x", "y")}},
			has: []string{"a was not changed: edit 2 of 3: old_text was not found", "edit 3 of 3: old_text was not found"}},
		{name: "an empty one", args: map[string]any{"path": "a", "edits": []any{ed("one", "1"), ed("", "y")}}, has: []string{"edit 2 of 2: old_text is empty"}},
		{name: "one without change", args: map[string]any{"path": "a", "edits": []any{ed("one", "1"), ed("two", "two")}}, has: []string{"edit 2 of 2: old_text and new_text are the same"}},
		{name: "one about what another makes", args: map[string]any{"path": "a", "edits": []any{ed("one", "first line"), ed("first line", "x")}},
			has: []string{"edit 2 of 2: old_text was not found", "It stands in the new_text of edit 1, but all edits of a call are about the file as it was before"}},
		{name: "wrong names in an edit", args: map[string]any{"path": "a", "edits": []any{map[string]any{"old": "one", "new_text": "1"}}},
			has: []string{`- "edits[0].old" is unknown; what may be there: old_text (a string`, `- "edits[0].old_text" is missing (a string)`}},
		{name: "wrong types in a file", args: map[string]any{"files": []any{map[string]any{"path": 1}, "x"}},
			has: []string{`- "files[0].path" is a number, and must be a string`, `- "files[1]" is a string, and must be an object`}},
		{name: "one of several files", args: map[string]any{"files": []any{
			map[string]any{"path": "a", "edits": []any{ed("one", "1")}},
			map[string]any{"path": "dir/b", "edits": []any{ed("nothing like it", "2")}},
			map[string]any{"path": "dir/c", "edits": []any{ed("x", "2")}},
		}}, has: []string{"nothing was changed, in none of the files:\n- dir/b: old_text was not found", `- "dir/c": does not exist`, "did you mean dir/b?"}},
		{name: "a file twice", args: map[string]any{"files": []any{
			map[string]any{"path": "a", "edits": []any{ed("one", "1")}},
			map[string]any{"path": "/workspace/dir/../a", "edits": []any{ed("two", "2")}},
		}}, has: []string{`the same file as "a"`, "all of its changes together"}},
		{name: "a file without edits", args: map[string]any{"files": []any{map[string]any{"path": "a", "edits": []any{}}}}, has: []string{"old_text and new_text are missing, or edits"}},
		{name: "files in the flat form", args: map[string]any{"files": []any{
			map[string]any{"path": "a", "old_text": "one", "new_text": "1"},
			map[string]any{"path": "dir/b", "old_text": "uno", "new_text": ""},
		}}, want: map[string]string{"a": "1\ntwo\r\nthree\n", "dir/b": "\n"}},
		{name: "nothing", args: map[string]any{}, has: []string{`"path" is missing`}},
		{name: "no texts", args: map[string]any{"path": "a"}, has: []string{"old_text and new_text are missing"}},
		{name: "no new text", args: map[string]any{"path": "a", "old_text": "one"}, has: []string{"both needed"}},
		{name: "both forms", args: map[string]any{"path": "a", "old_text": "one", "new_text": "1", "edits": []any{ed("two", "2")}}, has: []string{"beside edits"}},
		{name: "files and a path", args: map[string]any{"path": "a", "files": []any{map[string]any{"path": "a", "edits": []any{ed("two", "2")}}}}, has: []string{"files stands for itself"}},
		{name: "an edit of another shape", args: map[string]any{"path": "a", "edits": []any{map[string]any{"old": "one", "new": "1"}}}, has: []string{"the arguments of edit_file are wrong"}},
		{name: "too many edits", args: map[string]any{"path": "a", "edits": many}, has: []string{"500 edits of a file at most"}},
		{name: "too many files", args: map[string]any{"files": manyFiles}, has: []string{"100 files at most"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFiles(t)
			want := map[string]string{}
			for name, content := range before {
				f.put(t, name, content)
				want[name] = content
			}
			got, isError := f.call(t, "edit_file", tt.args)
			for name, content := range tt.want {
				want[name] = content
			}
			if diff := cmp.Diff(want, f.tree(t)); diff != "" || isError != (tt.want == nil) {
				t.Errorf("IsError = %v: %s\nfiles (-want +got):\n%s", isError, got, diff)
			}
			for _, has := range tt.has {
				if !strings.Contains(got, has) {
					t.Errorf("answer %q lacks %q", got, has)
				}
			}
		})
	}
}

// Files of a call are bounded together, before they are all in memory.
func TestEditFileBoundsACall(t *testing.T) {
	f := newFiles(t)
	var files []any
	for i := range 5 {
		name := fmt.Sprint(i)
		f.put(t, name, "mark"+strings.Repeat("x", 9<<20))
		files = append(files, map[string]any{"path": name, "edits": []any{ed("mark", "MARK")}})
	}
	got, isError := f.call(t, "edit_file", map[string]any{"files": files})
	if !isError || !strings.Contains(got, "over 40 MiB") || strings.HasPrefix(f.content(t, "0"), "MARK") {
		t.Errorf("got %q", got)
	}
}

// What a call is told of is bounded, however much of it is wrong or is done.
func TestEditFileBoundsItsAnswer(t *testing.T) {
	f := newFiles(t)
	text := strings.Repeat("a line of text that is like the others\n", 500)
	var wrong, right, files, near []any
	var numbered strings.Builder
	var loose []any
	for i := range 50 {
		fmt.Fprintf(&numbered, "  line <%d>\n", i)
		loose = append(loose, ed(fmt.Sprintf("\tline <%d>\n", i), "\tchanged\n"))
	}
	for i := range 90 {
		name := fmt.Sprint(i)
		f.put(t, name, text)
		wrong = append(wrong, ed(fmt.Sprintf("a line of tent that is like %d others\n", i), "x"))
		right = append(right, map[string]any{"path": name, "edits": []any{map[string]any{"old_text": "line", "new_text": "row", "replace_all": true}}})
		files = append(files, map[string]any{"path": name, "edits": []any{ed("no such text", "x")}})
		name = "near" + name
		f.put(t, name, numbered.String())
		f.call(t, "read_file", map[string]any{"path": name})
		near = append(near, map[string]any{"path": name, "edits": loose})
	}
	for _, tt := range []struct {
		name string
		args map[string]any
		want string
	}{
		{"edits", map[string]any{"path": "0", "edits": wrong}, "the edits after it were not looked at"},
		{"files", map[string]any{"files": files}, "what comes after it in the call was not looked at"},
		{"done", map[string]any{"files": right}, "[the diff is not shown: there are too many]"},
		{"near", map[string]any{"files": near}, "[9 notes on it not shown: there are too many]"},
	} {
		got, _ := f.call(t, "edit_file", tt.args)
		if !strings.Contains(got, tt.want) || len(got) > 40_000 {
			t.Errorf("%s: answer of %d bytes lacks %q: %.500q", tt.name, len(got), tt.want, got)
		}
	}
	f.put(t, "near", numbered.String())
	f.call(t, "read_file", map[string]any{"path": "near"})
	if got, _ := f.call(t, "edit_file", map[string]any{"path": "near", "edits": loose}); !strings.Contains(got, "line 8, the only place") || !strings.Contains(got, "[and so for 42 further places]") {
		t.Errorf("answer %.3000q", got)
	}
	if got := f.content(t, "89"); !strings.HasPrefix(got, "a row of text") {
		t.Errorf("the last file was not edited: %.50q", got)
	}
}
