package tools_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What tools that change files are known to get wrong in the field, with the
// smallest input of each.
func TestFaultsOfTheField(t *testing.T) {
	var numbers, edited strings.Builder
	for i := range 100 {
		fmt.Fprintf(&numbers, "%d\n", i+1)
		switch i {
		case 49, 74:
			fmt.Fprintf(&edited, "line %d\n", i+1)
		default:
			fmt.Fprintf(&edited, "%d\n", i+1)
		}
	}
	for _, tt := range []struct {
		name   string
		before map[string]string
		steps  []step
		after  map[string]string // what differs
	}{
		{"text in LF is found in a CRLF file, whose ends stay", map[string]string{"f": "a\r\nb\r\nc\n"},
			[]step{editStep("f", "a\nb", "a\nB", "edited")}, map[string]string{"f": "a\r\nB\r\nc\n"}},
		{"a carriage return is data", map[string]string{"f": "a\rb\nc\n"}, []step{editStep("f", "c", "C", "edited")}, map[string]string{"f": "a\rb\nC\n"}},
		{"a byte order mark stays in an edit", map[string]string{"f": "\xef\xbb\xbf1\n2\n"}, []step{editStep("f", "2", "3", "edited")}, map[string]string{"f": "\xef\xbb\xbf1\n3\n"}},
		{"a byte order mark stays in a rewrite", map[string]string{"f": "\xef\xbb\xbf1\n"}, []step{readStep("f"), writeStep("f", "2\n", "overwrote")}, map[string]string{"f": "\xef\xbb\xbf2\n"}},
		{"Latin-1 stays", map[string]string{"f": "caf\xe9 word\n"}, []step{editStep("f", "word", "WORD", "edited")}, map[string]string{"f": "caf\xe9 WORD\n"}},
		{"a link is written through", map[string]string{"AGENTS.md": "one\n"}, []step{
			linkStep("AGENTS.md", "CLAUDE.md"), editStep("CLAUDE.md", "one", "two", "edited AGENTS.md (CLAUDE.md leads through a link"), linkStays("CLAUDE.md"),
			patchStep("*** Update File: CLAUDE.md\n-two\n+three\n", "edited AGENTS.md"), linkStays("CLAUDE.md"),
		}, map[string]string{"AGENTS.md": "three\n"}},
		{"a dangling link", nil, []step{
			linkStep("later", "link"), editStep("link", "a", "b", "!does not exist"), writeStep("link", "new\n", "created later"), linkStays("link"),
		}, map[string]string{"later": "new\n"}},
		{"a cycle of links", nil, []step{
			linkStep("b", "a"), linkStep("a", "b"), editStep("a", "x", "y", "!probably a cycle"), writeStep("b", "x", "!probably a cycle"), patchStep("*** Add File: a\n+x\n", "!probably a cycle"),
		}, nil},
		{"a link that leads outside", nil, []step{
			linkStep("/", "x"), writeStep("x/tmp/evil", "x", "!outside the workspace"), editStep("x/etc/hostname", "a", "b", "!outside the workspace"),
			patchStep("*** Delete File: x/etc/hostname\n", "!outside the workspace"),
		}, nil},
		{"an empty old text", map[string]string{"f": "abc"}, []step{editStep("f", "", "X", "!old_text is empty")}, nil},
		{"no change is not called not found", map[string]string{"f": "abc"}, []step{editStep("f", "b", "b", "!are the same")}, nil},
		{"two edits in one answer", map[string]string{"f": numbers.String()}, []step{
			editStep("f", "\n50\n", "\nline 50\n", "edited"), editStep("f", "\n75\n", "\nline 75\n", "edited"),
		}, map[string]string{"f": edited.String()}},
		{"a write from a stale read", map[string]string{"f": "a\n"}, []step{
			readStep("f"), rewrite("f", "b\n"), writeStep("f", "a\nand more\n", "!has changed since"),
		}, map[string]string{"f": "b\n"}},
		{"a write over what was never read", map[string]string{"f": "a\n"}, []step{writeStep("f", "b\n", "!have not read it")}, nil},
		{"a write over what cannot be read", map[string]string{"f.bin": "PK\x03\x04\x00\x00\x00", "g": "\x7fELF\x02\x01\x01\x00"}, []step{
			writeStep("f.bin", "new\n", "!have not read it"), describedStep("f.bin"), writeStep("f.bin", "new\n", "overwrote"),
			patchStep("*** Delete File: g\n", "!have not read it"), describedStep("g"), patchStep("*** Delete File: g\n*** Add File: h\n+x\n", "deleted g"),
			patchStep("*** Add File: g\n+x\n", "added g"),
		}, map[string]string{"f.bin": "new\n", "g": "x\n", "h": "x\n"}},
		{"a write of other line ends", map[string]string{"f": "a\r\nb\r\n"}, []step{
			readStep("f"), writeStep("f", "a\nb\n", "holds that already, but for what a write keeps"), writeStep("f", "a\r\nb\r\n", "exactly that already"),
		}, nil},
		{"the same line at two depths", map[string]string{"f": "  x()\n    x()\n"}, []step{readStep("f"), editStep("f", "\tx()", "\ty()", "!2 places (lines 1, 2)")}, nil},
		{"spaces for tabs", map[string]string{"f": "\tx()\n\t\ty()\n"}, []step{
			readStep("f"), editStep("f", "    x()\n        y()", "    x()\n        z()", "was taken instead"),
		}, map[string]string{"f": "\tx()\n\t\tz()\n"}},
		{"a part of a patch that fails", map[string]string{"f": "a\n", "g": "b\n"}, []step{
			patchStep("*** Add File: new\n+x\n*** Update File: f\n-a\n+A\n*** Update File: g\n-missing\n+B\n", "!nothing was changed"),
		}, nil},
		{"an edit that is made twice", map[string]string{"f": "one two\n"}, []step{
			editStep("f", "one two", "three four", "edited"), editStep("f", "one two", "three four", "!applied already"),
		}, map[string]string{"f": "three four\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFiles(t)
			want := map[string]string{}
			for name, content := range tt.before {
				f.put(t, name, content)
				want[name] = content
			}
			f.take(t, tt.steps)
			for name, content := range tt.after {
				want[name] = content
			}
			for name := range want {
				if got := f.content(t, name); got != want[name] {
					t.Errorf("%s (-want +got):\n%s", name, cmp.Diff(want[name], got))
				}
			}
			if _, err := os.Lstat(filepath.Join(f.dir, "new")); err == nil {
				t.Error("a file was made by a call that failed")
			}
		})
	}
}

// describedStep reads a file that is no text.
func describedStep(path string) step {
	return step{tool: "read_file", args: map[string]any{"path": path}, want: "!only text can be read"}
}

func linkStep(target, name string) step {
	return step{do: func(dir string) error { return os.Symlink(target, filepath.Join(dir, name)) }}
}

func linkStays(name string) step {
	return step{do: func(dir string) error {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err == nil && info.Mode()&os.ModeSymlink == 0 {
			err = errors.New(name + " is no longer a link")
		}
		return err
	}}
}
