package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// hang is far more than any of these takes where its cost is that of the file.
const hang = 20 * time.Second

// What planted files and odd edits cost is bounded.
func TestEditsAreBounded(t *testing.T) {
	mixed := "a\r\nb\n" + strings.Repeat("x;", 2<<20)
	short := strings.Repeat("abc\n", 2_500_000)
	word := strings.Repeat("a", 1<<20)
	var prose strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&prose, "    some text on line %d ‘x’ \n", i)
	}
	var wrong, near, same []edit
	for i := range 8 {
		wrong = append(wrong, edit{old: fmt.Sprint("abx", i, "\nfoo bar\nabq\nbcd\nefg\nhij\n"), new: "z"})
	}
	for i := range 300 {
		near = append(near, edit{old: fmt.Sprintf("some  text on line %d 'x'", 1000+i), new: "z"})
		same = append(same, edit{old: "abc\n", new: fmt.Sprint(i), all: true})
	}
	few := strings.Repeat("abc\n", 90_000)
	for _, tt := range []struct {
		name, content string
		edits         []edit
		want          string // of the answer; "" where it is made
	}{
		{"many places in a long line of a file with mixed ends", mixed, []edit{{old: "x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;x;", new: "\n", all: true}}, ""},
		{"the same before the last newline", mixed + "\n", []edit{{old: strings.Repeat("x;", 50), new: "\n", all: true}}, ""},
		{"too many places", word, []edit{{old: "a", new: "b", all: true}}, "more than 100000 times"},
		{"too many places of several edits", few, same, "more than 100000 places"},
		{"too large a result", strings.Repeat("a", 90_000), []edit{{old: "a", new: strings.Repeat("y", 1000), all: true}}, "would be over 10 MiB"},
		{"overlaps everywhere", strings.Repeat("foo_baz = 1\n", 20_000), []edit{{old: "foo", new: "bar", all: true}, {old: "foo_baz", new: "x", all: true}}, "edits 1 and 2 overlap (line 1)"},
		{"much that is not there", short, wrong, "Only its first 2 MiB"},
		{"a word without end", word, []edit{{old: " " + strings.Repeat("a", 200_000), new: "z"}}, "not found"},
		{"a text that repeats itself", strings.Repeat("ab ", 500_000), []edit{{old: strings.Repeat("ab  ", 200_000) + "a", new: "z"}}, "not found"},
		{"new lines at many places in a long line", strings.Repeat(" x;......", 99_000), []edit{{old: " x;", new: " y\n z\n", all: true}}, ""},
		{"a new text in a word without end", strings.Repeat("a", 10<<20), []edit{{old: "b", new: strings.Repeat("a", 100_000)}}, "not found"},
		{"many that are not exact", prose.String(), near, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			_, err := applyEdits(t.Context(), tt.content, tt.edits, true)
			if took := time.Since(start); took > hang {
				t.Errorf("it took %v", took)
			}
			if (err != nil) != (tt.want != "") || err != nil && (!strings.Contains(err.Error(), tt.want) || len(err.Error()) > 8000) {
				t.Errorf("answer %.300v, want %q", err, tt.want)
			}
		})
	}
}

func TestPatchesAreBounded(t *testing.T) {
	lines := strings.Repeat("ba\n", 1_000_000)
	for _, tt := range []struct{ name, content, patch, want string }{
		{"lines that repeat themselves", lines, " a\n" + strings.Repeat(" ba\n", 100_000) + "+x\n", "not found"},
		{"a header that is nearly everywhere", strings.Repeat("}\nx\n", 500_000), "@@ }\n-x\n+y\n", "more than 10000 times"},
		{"many headers that are everywhere", strings.Repeat("x\n", 9_000), strings.Repeat(strings.Repeat("@@ x\n", 20)+"-x\n+z\n", 500), "982 times"},
		{"too many chunks", "a\n", strings.Repeat("@@\n-a\n+b\n", 501), "500 places"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files, err := parsePatch("*** Begin Patch\n*** Update File: f\n" + tt.patch + "*** End Patch")
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			_, err = applyChunks(t.Context(), tt.content, files[0].chunks, true)
			if took := time.Since(start); took > hang {
				t.Errorf("it took %v", took)
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("answer %.300v, want %q", err, tt.want)
			}
		})
	}
}

// A call that is canceled changes nothing more.
func TestEditsEndWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := applyEdits(ctx, "a\n", []edit{{old: "a", new: "b"}}, true); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := applyChunks(ctx, "a\n", []chunk{{lines: []patchLine{{'-', "a"}}}}, true); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
