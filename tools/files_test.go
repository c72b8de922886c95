package tools_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/tools"
	"github.com/google/go-cmp/cmp"
)

// files are the file tools over a fresh workspace.
type files struct {
	dir      string
	registry tools.Registry
	space    *workspace.Workspace
	seen     *tools.Seen
}

func newFiles(t testing.TB) *files {
	t.Helper()
	return newFilesAt(t, t.TempDir())
}

// newFilesAt is newFiles over a folder that is there.
func newFilesAt(t testing.TB, dir string) *files {
	t.Helper()
	f := &files{dir: dir}
	var err error
	f.space, err = workspace.Open(f.dir, "/workspace", sandbox.Owner{UID: os.Geteuid(), GID: os.Getegid(), Umask: 0o022})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.space.Close() })
	f.seen = new(tools.Seen)
	for _, tool := range []tools.Tool{
		tools.NewReadFile(f.space, f.seen), tools.NewWriteFile(f.space, f.seen), tools.NewEditFile(f.space, f.seen),
		tools.NewApplyPatch(f.space, f.seen), tools.NewGlob(f.space), tools.NewGrep(f.space),
	} {
		if err := f.registry.Register(tool); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// call runs a tool and gives its text and whether it is an error.
func (f *files) call(t testing.TB, name string, args map[string]any) (string, bool) {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	res, err := f.registry.Execute(t.Context(), name, data)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Parts) != 1 {
		t.Fatalf("%d parts", len(res.Parts))
	}
	if strings.Contains(res.Parts[0].Text, f.dir) {
		t.Errorf("the answer names the host's path: %q", res.Parts[0].Text)
	}
	return res.Parts[0].Text, res.IsError
}

func (f *files) put(t testing.TB, name, content string) {
	t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (f *files) content(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestReadFile(t *testing.T) {
	f := newFiles(t)
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "line %d\n", i+1)
		}
		return b.String()
	}
	for _, tt := range []struct {
		name, content string
		args          map[string]any
		want          string // the whole answer
		has           []string
		isError       bool
	}{
		{name: "text", content: "one\n\ttwo\n", want: "     1\tone\n     2\t\ttwo\n"},
		{name: "no newline at the end", content: "one\ntwo", want: "     1\tone\n     2\ttwo\n[there is no newline at the end of the file]\n"},
		{name: "empty", content: "", want: "[file is empty]"},
		{name: "only a newline", content: "\n", want: "     1\t\n"},
		{name: "offset and limit", content: many(5), args: map[string]any{"offset": 2, "limit": 2}, want: "     2\tline 2\n     3\tline 3\n[the file goes on. Use offset=4 to read on; it has 5 lines]\n"},
		{name: "limit at the end", content: many(3), args: map[string]any{"limit": 3}, want: "     1\tline 1\n     2\tline 2\n     3\tline 3\n"},
		{name: "integers as JSON has them", content: many(3), args: map[string]any{"offset": json.Number("3.0")}, want: "     3\tline 3\n"},
		{name: "offset past the end", content: many(3), args: map[string]any{"offset": 4}, want: `offset 4 is past the end: "file" has 3 lines`, isError: true},
		{name: "offset beyond any file", content: "x", args: map[string]any{"offset": json.Number("1e300")}, has: []string{"has 1 line"}, isError: true},
		{name: "negative", content: "x", args: map[string]any{"offset": -1}, has: []string{"must not be negative"}, isError: true},
		{name: "too many lines", content: many(2500), has: []string{"  2000\tline 2000\n[the file goes on. Use offset=2001 to read on; it has 2,500 lines]\n"}},
		{name: "limit over the largest", content: many(10), args: map[string]any{"limit": 5000}, has: []string{"    10\tline 10\n[limit was more than the largest, 2000]"}},
		{name: "too many bytes", content: strings.Repeat(strings.Repeat("x", 99)+"\n", 600), has: []string{"   512\tx", "Use offset=513 to read on"}},
		{
			name: "long line", content: strings.Repeat("中", 40_000) + "\nnext\n",
			has: []string{strings.Repeat("中", 2000) + "⟦… 114000 more bytes in this line⟧\n     2\tnext\n", "clipped after 2000 characters"},
		},
		{name: "exactly as long as shown", content: strings.Repeat("é", 2000) + "\n", want: "     1\t" + strings.Repeat("é", 2000) + "\n"},
		{name: "long line of escapes", content: strings.Repeat("\x1b", 50_000) + strings.Repeat("x", 8000), has: []string{"⟦1b⟧⟦… 57500 more bytes in this line⟧"}},
		{name: "CRLF", content: "a\r\nb\r\n", want: "     1\ta\n     2\tb\n[these lines end in CRLF]\n"},
		{name: "mixed line ends", content: "a\r\nb\n", has: []string{"some of these lines end in CRLF, others in LF"}},
		{name: "lone CR", content: "a\rb\r", has: []string{"     1\ta⟦0d⟧b⟦0d⟧\n"}},
		{name: "long CRLF line", content: strings.Repeat("x", 70_000) + "\r\nb\r\n", has: []string{"⟦… 68000 more bytes in this line⟧\n     2\tb\n[these lines end in CRLF]"}},
		{name: "byte order mark", content: "\xef\xbb\xbfa\n", want: "     1\ta\n[the file starts with a byte order mark, which is not shown]\n"},
		{name: "control bytes", content: "\x1b[31mred\x07\n", has: []string{"     1\t⟦1b⟧[31mred⟦07⟧\n[control bytes, hidden marks and bytes that are not UTF-8 are shown as ⟦hh⟧; edit_file takes them spelled so]"}},
		{name: "Latin-1", content: "caf\xe9\n", has: []string{"caf⟦e9⟧"}},
		{name: "binary", content: "PK\x03\x04\x00\x00" + strings.Repeat("z", 2000), want: `"file" is a binary file (application/zip) of 2 KiB, and only text can be read; use bash to list it: unzip -l or python3 -m zipfile -l`, isError: true},
		{name: "program", content: "\x7fELF\x02\x01\x01\x00", has: []string{"ELF program", "8 bytes"}, isError: true},
		{name: "UTF-16", content: "\xff\xfea\x00\r\x00\n\x00", want: "     1\ta\n[these lines end in CRLF]\n[the file is UTF-16 and shown as UTF-8]\n"},
		{name: "UTF-16, the other way round", content: "\xfe\xff\x4e\x2d\x00\n", has: []string{"     1\t中\n[the file is UTF-16"}},
		{name: "UTF-32", content: "\xff\xfe\x00\x00a\x00\x00\x00", has: []string{"binary"}, isError: true},
		{name: "PDF", content: "%PDF-1.7\n" + strings.Repeat("text\n", 100), has: []string{"a PDF document", "509 bytes", "pdftotext"}, isError: true},
		{name: "short gzip", content: "\x1f\x8b\x08\xff", has: []string{"gzip"}, isError: true},
		{name: "tar", content: strings.Repeat("a\x00", 128) + "\x00ustar\x00", has: []string{"tar archive"}, isError: true},
		{name: "text that begins like a program", content: "MZ is short for something\n", want: "     1\tMZ is short for something\n"},
		{name: "lines that are not shown are counted", content: strings.Repeat("x\n", 4000) + "end", args: map[string]any{"limit": 1}, has: []string{"Use offset=2 to read on; it has 4,001 lines]"}},
		{name: "bytes over the bound are counted", content: strings.Repeat(strings.Repeat("x", 99)+"\n", 600), has: []string{"it has 600 lines"}},
		{name: "control characters without NUL", content: strings.Repeat("\x01\x02ab", 100), has: []string{"binary"}, isError: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f.put(t, "file", tt.content)
			args := map[string]any{"path": "file"}
			for k, v := range tt.args {
				args[k] = v
			}
			got, isError := f.call(t, "read_file", args)
			if isError != tt.isError {
				t.Errorf("IsError = %v: %q", isError, got)
			}
			if tt.want != "" && got != tt.want {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
			for _, has := range tt.has {
				if !strings.Contains(got, has) {
					t.Errorf("%.300q… lacks %q", got, has)
				}
			}
			if len(got) > tools.ReadBytes+20*tools.ReadLines {
				t.Errorf("%d bytes", len(got))
			}
		})
	}
}

// Reading on by the offsets that the answers name gives every line once.
func TestReadFileReadsOn(t *testing.T) {
	f := newFiles(t)
	var want strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&want, "%d %s\n", i, strings.Repeat("y", i%60))
	}
	f.put(t, "file", want.String())
	var got strings.Builder
	offset, calls := 1, 0
	for offset > 0 {
		answer, _ := f.call(t, "read_file", map[string]any{"path": "/workspace/file", "offset": offset})
		offset = 0
		for line := range strings.SplitSeq(strings.TrimSuffix(answer, "\n"), "\n") {
			if _, err := fmt.Sscanf(line, "[the file goes on. Use offset=%d", &offset); err == nil {
				continue
			}
			_, body, _ := strings.Cut(line, "\t")
			got.WriteString(body + "\n")
		}
		if calls++; calls > 10 {
			t.Fatal("no end")
		}
	}
	if got.String() != want.String() {
		t.Error("the parts are not the file")
	}
}

func TestReadFileElsewhere(t *testing.T) {
	f := newFiles(t)
	f.put(t, "src/main.go", "x")
	f.put(t, "src/readme.md", "x")
	f.put(t, "src/sub/deep", "x")
	f.put(t, "scope/index@", "x")
	for target, link := range map[string]string{"/": "x", "src/main.go": "alias", "src": "dir"} {
		if err := os.Symlink(target, filepath.Join(f.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, path, want string
		isError          bool
	}{
		{"missing with near names", "src/man.go", `"src/man.go": does not exist; did you mean src/main.go?`, true},
		{"missing in another case", "src/README.md", "did you mean src/readme.md?", true},
		{"missing with a near name that ends in an at sign", "scope/index", "; did you mean scope/index@?", true},
		{"missing with nothing near", "src/zzzzzzzz", `"src/zzzzzzzz": does not exist`, true},
		{"missing folder", "none/file", `there is no folder "none"`, true},
		{"missing folder with a near name", "scr/main.go", "src/main.go?", true},
		{"missing folder deep", "src/sup/deep", "; did you mean src/sub/deep?", true},
		{"missing folder with a near name that lacks the file", "scr/none.txt", `there is no folder "scr"`, true},
		{"the same name elsewhere", "cmd/app/readme.md", "; did you mean src/readme.md?", true},
		{"a name with marks of patterns", "none/[a-z]{x}*", `there is no folder "none"`, true},
		{"folder", "src", "[src is a folder with 3 names; / marks folders, @ links]\nmain.go\nreadme.md\nsub/\n", false},
		{"the workspace", "/workspace", "alias@\ndir@\nscope/\nsrc/\nx@\n", false},
		{"through a link", "alias", "[alias leads through a link to src/main.go]", false},
		{"outside through a link", "x/etc/passwd", `the link "x" leads to "/", which is outside the workspace`, true},
		{"outside", "/etc/passwd", "outside the workspace", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, isError := f.call(t, "read_file", map[string]any{"path": tt.path})
			if !strings.Contains(got, tt.want) || isError != tt.isError {
				t.Errorf("got %q (error: %v), want %q", got, isError, tt.want)
			}
		})
	}
}

func TestReadFileListingIsBounded(t *testing.T) {
	f := newFiles(t)
	for i := range 300 {
		f.put(t, fmt.Sprintf("dir/%03d", i), "")
	}
	got, _ := f.call(t, "read_file", map[string]any{"path": "dir"})
	if !strings.Contains(got, "300 names") || !strings.Contains(got, "\n199\n[the first 200 are shown") {
		t.Errorf("got %q", got)
	}
}

func TestWriteFile(t *testing.T) {
	f := newFiles(t)
	f.put(t, "real", "old")
	if err := os.Symlink("real", filepath.Join(f.dir, "link")); err != nil {
		t.Fatal(err)
	}
	f.call(t, "read_file", map[string]any{"path": "real"})
	for _, tt := range []struct{ name, path, content, want, file string }{
		{"new with folders", "a/b/new.txt", "one\r\ntwo", "created a/b/new.txt: 8 bytes, 2 lines", "a/b/new.txt"},
		{"again", "/workspace/a/b/new.txt", "x\r\n", "overwrote a/b/new.txt: 3 bytes, 1 line", "a/b/new.txt"},
		{"empty", "empty", "", "created empty: 0 bytes, 0 lines", "empty"},
		{"spelling is kept", "spelled", "⟦1b⟧\u0000", "created spelled: 9 bytes, 1 line\n[content has a byte spelled as ⟦hh⟧, which was written as these characters: only edit_file and apply_patch take it for the byte]", "spelled"},
		{"through a link", "link", "new", "overwrote real: 3 bytes, 1 line (link leads through a link to real)", "real"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, isError := f.call(t, "write_file", map[string]any{"path": tt.path, "content": tt.content})
			if got != tt.want || isError {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if diff := cmp.Diff(tt.content, f.content(t, tt.file)); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
		})
	}
	if got, isError := f.call(t, "write_file", map[string]any{"path": "../evil", "content": "x"}); !isError || !strings.Contains(got, "outside") {
		t.Errorf("outside: %q", got)
	}
	if got, isError := f.call(t, "write_file", map[string]any{"path": "x"}); !isError || !strings.Contains(got, `"content" is missing`) {
		t.Errorf("without content: %q", got)
	}
}

// What a reader is not shown of a file stays when the whole of it is written,
// and the answer says so.
func TestWriteFileKeepsForm(t *testing.T) {
	const mark, crlf, wide = "[the byte order mark at its start was kept]", "[its lines still end in CRLF]", "[the file is UTF-16, and stays so]"
	for _, tt := range []struct {
		name, before, content, after string
		notes                        []string
	}{
		{"byte order mark", "\ufeffold\n", "new\n", "\ufeffnew\n", []string{mark}},
		{"byte order mark that is given", "\ufeffold\n", "\ufeffnew\n", "\ufeffnew\n", nil},
		{"CRLF", "a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n", []string{crlf}},
		{"CRLF of which only one is given", "a\r\nb\r\n", "x\ny\r\n", "x\ny\r\n", nil},
		{"mixed ends", "a\r\nb\n", "x\ny\n", "x\ny\n", nil},
		{"both", "\ufeffa\r\nb\r\n", "x\n", "\ufeffx\r\n", []string{mark, crlf}},
		{"UTF-16", inUTF16(binary.LittleEndian, "a\r\n"), "é\n", inUTF16(binary.LittleEndian, "é\r\n"), []string{mark, crlf, wide}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFiles(t)
			f.put(t, "f", tt.before)
			f.call(t, "read_file", map[string]any{"path": "f"})
			got, isError := f.call(t, "write_file", map[string]any{"path": "f", "content": tt.content})
			if !strings.HasPrefix(got, "overwrote f: ") || isError {
				t.Errorf("got %q", got)
			}
			if diff := cmp.Diff(tt.after, f.content(t, "f")); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
			for _, note := range []string{mark, crlf, wide} {
				if strings.Contains(got, note) != slices.Contains(tt.notes, note) {
					t.Errorf("got %q, want the notes %q", got, tt.notes)
				}
			}
		})
	}
}

// A workspace that is gone ends the run.
func TestFileToolsClosedWorkspace(t *testing.T) {
	f := newFiles(t)
	if err := f.space.Close(); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string]string{
		"read_file":  `{"path":"x"}`,
		"write_file": `{"path":"x","content":""}`,
		"edit_file":  `{"path":"x","old_text":"a","new_text":"b"}`,
		"glob":       `{"pattern":"*"}`,
		"grep":       `{"pattern":"x"}`,
	} {
		if res, err := f.registry.Execute(t.Context(), name, json.RawMessage(args)); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s = %+v, %v, want os.ErrClosed", name, res, err)
		}
	}
}

func TestFileToolDefinitions(t *testing.T) {
	f := newFiles(t)
	effects := map[string]tools.Effect{"read_file": tools.Read, "write_file": tools.Write, "edit_file": tools.Write, "apply_patch": tools.Write}
	for _, def := range f.registry.Definitions() {
		if def.Effect != effects[def.Name] {
			t.Errorf("%s has effect %v", def.Name, def.Effect)
		}
		if !strings.Contains(def.Description, "/workspace") || strings.Contains(def.Description, "{{") {
			t.Errorf("%s is described as %q", def.Name, def.Description)
		}
		schema, err := json.Marshal(def.Schema)
		if err != nil || !strings.Contains(string(schema), `"additionalProperties":false`) {
			t.Errorf("%s has schema %s, %v", def.Name, schema, err)
		}
	}
}
