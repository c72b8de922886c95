package tools_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Edits whose old text is not quite what stands in the file, which was read.
func TestEditFileTolerant(t *testing.T) {
	const space, form = "white space at the start or end of lines", "the kind of quotes or dashes"
	for _, tt := range []struct {
		name, content, old, new string
		want                    string   // "" when refused
		has                     []string // in the answer
	}{
		{name: "spaces for tabs", content: "func f() {\n\tif a {\n\t\tb()\n\t}\n}\n",
			old: "    if a {\n        b()\n    }\n", new: "    if a {\n        b()\n        if c {\n            d()\n        }\n    }\n",
			want: "func f() {\n\tif a {\n\t\tb()\n\t\tif c {\n\t\t\td()\n\t\t}\n\t}\n}\n", has: []string{space, "lines 2-4", "indented as that place is"}},
		{name: "two spaces for tabs", content: "\tif a {\n\t\tb()\n\t}\n",
			old: "  if a {\n    b()\n  }", new: "  if a {\n    c()\n      d\n  }", want: "\tif a {\n\t\tc()\n\t\t\td\n\t}\n"},
		{name: "tabs for spaces", content: "    if a:\n        b()\n",
			old: "\tif a:\n\t\tb()\n", new: "\tif a:\n\t\tb()\n\t\t\tc()\n", want: "    if a:\n        b()\n            c()\n"},
		{name: "no indentation at all", content: "class A:\n    def f(self):\n        return 1\n",
			old: "def f(self):\n    return 1\n", new: "def f(self):\n    x = 2\n    return x\n\ndef g(self):\n    pass\n",
			want: "class A:\n    def f(self):\n        x = 2\n        return x\n\n    def g(self):\n        pass\n"},
		{name: "too much indentation", content: "if a:\n    b()\n",
			old: "    if a:\n        b()\n", new: "    if a:\n        c()\n    d()\n", want: "if a:\n    c()\nd()\n"},
		{name: "the first line from behind its indentation", content: "\tx := 1\n\ty  := 2\n\tz := 3\n",
			old: "x := 1\n\ty := 2\n", new: "x := 1\n\ty := 3\n", want: "\tx := 1\n\ty  := 3\n\tz := 3\n"},
		{name: "cut, and a line before", content: "def f():\n    if x:  \n        a()\n", old: "if x:\n        a()\n", new: "log()\n    if x:\n        a()\n",
			want: "def f():\n    log()\n    if x:\n        a()\n"},
		{name: "cut, and a branch after", content: "def f():\n    if x:\n        a() \n", old: "if x:\n        a()\n", new: "if x:\n        a()\n    else:\n        c()\n",
			want: "def f():\n    if x:\n        a() \n    else:\n        c()\n"},
		{name: "cut, in a file with tabs", content: "func f() {\n\tif x { \n\t\ta()\n\t}\n}\n", old: "if x {\n\t\ta()\n\t}", new: "if x {\n\t\ta()\n\t} else {\n\t\tc()\n\t}",
			want: "func f() {\n\tif x { \n\t\ta()\n\t} else {\n\t\tc()\n\t}\n}\n"},
		{name: "cut, with spaces for tabs", content: "def f():\n\tif x:\n\t\ta()\n", old: "if x:\n        a()\n", new: "if x:\n        a()\n    else:\n        c()\n",
			want: "def f():\n\tif x:\n\t\ta()\n\telse:\n\t\tc()\n"},
		{name: "cut within the indentation", content: "def f():\n    if x:  \n        a()\n", old: "  if x:\n        a()\n", new: "  if y:\n        a()\n    b()\n",
			want: "def f():\n    if y:  \n        a()\n    b()\n"},
		{name: "cut, and a line before that leaves it so", content: "def f():\n    if x:  \n        a()\n", old: "if x:\n        a()\n", new: "log()\nif x:\n        a()\n", has: []string{"white space only"}},
		{name: "one line cut, and one after", content: "def f():\n    foo(‘x’)\n", old: "foo('x')", new: "foo('x')\n    bar()", has: []string{"not found"}},
		{name: "one whole line cut, and some after", content: "def f():\n    foo( x )\n    c()\n", old: "foo(  x  )\n", new: "foo(x)\n    if y:\n        bar()\n", has: []string{"white space only"}},
		{name: "one line cut, and a flat one after", content: "def f():\n    foo(‘x’)\n", old: "foo('x')", new: "foo('x')\nbar()", want: "def f():\n    foo(‘x’)\n    bar()\n"},
		{name: "a tab in a file with spaces", content: "\"\"\"\n\tx\n\"\"\"\nx = ‘a’\ndef g():\n    if y:\n        return 2\n", old: "x = 'a'", new: "x = 'a'\ndef h():\n    return 1",
			want: "\"\"\"\n\tx\n\"\"\"\nx = ‘a’\ndef h():\n    return 1\ndef g():\n    if y:\n        return 2\n"},
		{name: "trailing space in the file", content: "one  \ntwo\t\nthree\n", old: "one\ntwo\nthree", new: "one\n2\nthree", want: "one  \n2\nthree\n"},
		{name: "trailing space in the old text", content: "one\ntwo\n", old: "one \ntwo ", new: "1 \ntwo ", want: "1 \ntwo\n"},
		{name: "a missing newline at the end", content: "one\ntwo", old: "two\n", new: "2\n3\n", want: "one\n2\n3"},
		{name: "lines added at an end without newline", content: "one\ntwo", old: "one\ntwo\n", new: "one\ntwo\nthree\n", want: "one\ntwo\nthree"},
		{name: "CRLF", content: "  a\r\n  b\r\nc\r\n", old: "a\nb\n", new: "a\nx\nb\n", want: "  a\r\n  x\r\n  b\r\nc\r\n"},
		{name: "typographic quotes", content: "He said: “Don’t – ever.”\nNext “line”\n",
			old: "He said: \"Don't - ever.\"\nNext \"line\"\n", new: "He said: \"Don't - never.\"\nNext \"line\"\n",
			want: "He said: “Don’t – never.”\nNext “line”\n", has: []string{form}},
		{name: "typographic quotes within a line", content: "x = f(‘a’) + g(‘b’)\n", old: "g('b')", new: "g('c')", want: "x = f(‘a’) + g(‘c’)\n"},
		{name: "a no-break space", content: "10\u00a0km far\n", old: "10 km far", new: "11 km far", want: "11\u00a0km far\n"},
		{name: "an ellipsis", content: "wait…\n", old: "wait...", new: "wait... then go", want: "wait… then go\n"},
		{name: "accents composed otherwise", content: "cafe\u0301 noir\n", old: "café noir", new: "café blanc", want: "cafe\u0301 blanc\n"},
		{name: "alignment within a line", content: "x\t= 1\nlong\t= 2\n", old: "x = 1", new: "x = 3", want: "x\t= 3\nlong\t= 2\n"},
		{name: "the lines between stay", content: "a  \n“b”  \nc  \n", old: "a\n\"b\"\nc\n", new: "A\n\"b\"\nC\n", want: "A\n“b”  \nC\n"},
		{name: "deletion", content: "a\n  b  \nc\n", old: "b\n", new: "", want: "a\nc\n"},

		{name: "less indentation, and a line after", content: "def f():\n    if a:\n        y = 2\n", old: "    y = 2\n", new: "    y = 2\n    z = 3\n",
			want: "def f():\n    if a:\n        y = 2\n        z = 3\n", has: []string{space, "indented as that place is"}},
		{name: "less indentation, and a line before", content: "def f():\n    if a:\n        y = 2\n", old: "    y = 2", new: "    if z:\n        x = 1\n    y = 2",
			want: "def f():\n    if a:\n        if z:\n            x = 1\n        y = 2\n"},
		{name: "one tab less, in a line that changes", content: "f:\n\t\tx = 1\n", old: "\tx = 1\n", new: "\tx = 2\n", want: "f:\n\t\tx = 2\n"},
		{name: "less indentation, and a line of another depth", content: "    x = 1\n        x = 1\n", old: "      x = 1\n", new: "      x = 2\n", has: []string{"2 places (lines 1, 2)", space}},

		{name: "two places", content: "  x = 1\n    x = 1\n", old: "\tx = 1\n", new: "\tx = 2\n", has: []string{"2 places (lines 1, 2)", space}},
		{name: "another structure", content: "if a:\n  b()\n  c()\n", old: "if a:\n    b()\nc()\n", new: "if a:\n    d()\nc()\n", has: []string{"white space only"}},
		{name: "all are asked for", content: "  x\n", old: "\tx", new: "y", has: []string{"not found"}},
		{name: "within a word", content: "prefix‘s\n", old: "fix's", new: "y", has: []string{"not found"}},
		{name: "a part of a character at its start", content: "see …end\n", old: "..end", new: "y", has: []string{"not found"}},
		{name: "a part of a character at its end", content: "end…\n", old: "end..", new: "y", has: []string{"not found"}},
		{name: "only white space", content: "a\n\t\nb\n", old: "   ", new: "x", has: []string{"not found"}},
		{name: "applied already", content: "func f() {\n\treturn changed(1)\n}\n", old: "\treturn original(2)\n", new: "\treturn changed(1)\n", has: []string{"applied already", "line 2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFiles(t)
			f.put(t, "file", tt.content)
			args := map[string]any{"path": "file", "old_text": tt.old, "new_text": tt.new}
			if tt.name == "all are asked for" {
				args["replace_all"] = true
			}
			if got, isError := f.call(t, "edit_file", args); !isError || f.content(t, "file") != tt.content {
				t.Errorf("a file that was not read was edited: %s", got)
			}
			f.call(t, "read_file", map[string]any{"path": "file"})
			got, isError := f.call(t, "edit_file", args)
			want := tt.want
			if want == "" {
				want = tt.content
			}
			if diff := cmp.Diff(want, f.content(t, "file")); diff != "" || isError != (tt.want == "") {
				t.Errorf("IsError = %v; content (-want +got):\n%s\nanswer: %s", isError, diff, got)
			}
			has := tt.has
			if !isError {
				has = append(has, "[old_text was not there exactly; line")
			}
			for _, has := range has {
				if !strings.Contains(got, has) {
					t.Errorf("answer %q lacks %q", got, has)
				}
			}
		})
	}
}
