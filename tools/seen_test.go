package tools_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belljar/belljar/tools"
)

// A step is a call, or something else that happens to the files.
type step struct {
	tool string
	args map[string]any
	want string // in the answer; an error when it starts with "!"
	do   func(dir string) error
}

func readStep(path string) step {
	return step{tool: "read_file", args: map[string]any{"path": path}}
}

func writeStep(path, content, want string) step {
	return step{tool: "write_file", args: map[string]any{"path": path, "content": content}, want: want}
}

func editStep(path, old, new, want string) step {
	return step{tool: "edit_file", args: map[string]any{"path": path, "old_text": old, "new_text": new}, want: want}
}

func patchStep(patch, want string) step {
	return step{tool: "apply_patch", args: map[string]any{"patch": "*** Begin Patch\n" + patch + "*** End Patch"}, want: want}
}

// rewrite is what a command in the sandbox does to a file.
func rewrite(name, content string) step {
	return step{do: func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644) }}
}

// replace is what sed -i and many editors do: a new file of the same name.
func replace(name, content string) step {
	return step{do: func(dir string) error {
		temp := filepath.Join(dir, "temp")
		return errors.Join(os.WriteFile(temp, []byte(content), 0o644), os.Rename(temp, filepath.Join(dir, name)))
	}}
}

// take takes steps one after another.
func (f *files) take(t *testing.T, steps []step) {
	t.Helper()
	for i, s := range steps {
		if s.do != nil {
			if err := s.do(f.dir); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, isError := f.call(t, s.tool, s.args)
		want, refused := strings.CutPrefix(s.want, "!")
		if !strings.Contains(got, want) || isError != refused {
			t.Errorf("step %d, %s: %q (error: %v), want %q", i+1, s.tool, got, isError, s.want)
		}
	}
}

func TestStaleChanges(t *testing.T) {
	const (
		changed = "!it has changed since you last read or wrote it"
		unread  = "!it exists and you have not read it"
	)
	for _, tt := range []struct {
		name  string
		steps []step
		want  string // of "file" at the end
	}{
		{"read, then written", []step{readStep("file"), writeStep("file", "new\n", "overwrote")}, "new\n"},
		{"never read, written", []step{writeStep("file", "new\n", unread)}, "one\ntwo\n"},
		{"never read, written as it is", []step{writeStep("file", "one\ntwo\n", "already")}, "one\ntwo\n"},
		{"empty, never read", []step{rewrite("file", ""), writeStep("file", "new\n", "overwrote")}, "new\n"},
		{"never read, edited exactly", []step{editStep("file", "one", "1", "edited")}, "1\ntwo\n"},
		{"never read, edited, then written", []step{editStep("file", "one", "1", "edited"), writeStep("file", "x\n", unread)}, "1\ntwo\n"},
		{"a part is enough", []step{
			{tool: "read_file", args: map[string]any{"path": "file", "offset": 2, "limit": 1}}, writeStep("file", "new\n", "overwrote"),
		}, "new\n"},
		{"a read that shows nothing is not", []step{
			{tool: "read_file", args: map[string]any{"path": "file", "offset": 9}, want: "!past the end"}, writeStep("file", "new\n", unread),
		}, "one\ntwo\n"},
		{"changed in place, written", []step{readStep("file"), rewrite("file", "theirs\n"), writeStep("file", "new\n", changed)}, "theirs\n"},
		{"replaced, written", []step{readStep("file"), replace("file", "theirs\n"), writeStep("file", "new\n", changed)}, "theirs\n"},
		{"changed, edited", []step{readStep("file"), rewrite("file", "one\n2\n"), editStep("file", "one", "1", changed)}, "one\n2\n"},
		{"replaced, edited", []step{readStep("file"), replace("file", "one\n2\n"), editStep("file", "one", "1", changed)}, "one\n2\n"},
		{"changed, patched", []step{readStep("file"), rewrite("file", "one\n2\n"), patchStep("*** Update File: file\n-one\n+1\n", changed)}, "one\n2\n"},
		{"changed, deleted", []step{readStep("file"), rewrite("file", "one\n2\n"), patchStep("*** Delete File: file\n", changed)}, "one\n2\n"},
		{"never read, deleted", []step{patchStep("*** Delete File: file\n", "!you have not read it")}, "one\ntwo\n"},
		{"never read, patched exactly", []step{patchStep("*** Update File: file\n-one\n+1\n", "edited")}, "1\ntwo\n"},
		{"changed, with the same size and time", []step{
			readStep("file"),
			{do: func(dir string) error {
				path := filepath.Join(dir, "file")
				info, err := os.Stat(path)
				if err != nil {
					return err
				}
				return errors.Join(os.WriteFile(path, []byte("ONE\ntwo\n"), 0o644), os.Chtimes(path, info.ModTime(), info.ModTime()))
			}},
			editStep("file", "two", "2", changed),
		}, "ONE\ntwo\n"},
		{"touched only", []step{readStep("file"), replace("file", "one\ntwo\n"), editStep("file", "two", "2", "edited")}, "one\n2\n"},
		{"changed and read again", []step{readStep("file"), rewrite("file", "theirs\n"), readStep("file"), writeStep("file", "new\n", "overwrote")}, "new\n"},
		{"own changes are known", []step{
			readStep("file"), editStep("file", "one", "1", "edited"), editStep("file", "two", "2", "edited"),
			patchStep("*** Update File: file\n-1\n+I\n", "edited"), writeStep("file", "all\n", "overwrote"), editStep("file", "all", "ALL", "edited"),
		}, "ALL\n"},
		{"a refused change tells nothing", []step{
			readStep("file"), rewrite("file", "theirs\n"), writeStep("file", "new\n", changed), writeStep("file", "new\n", changed),
		}, "theirs\n"},
		{"another name, a link", []step{
			{do: func(dir string) error { return os.Symlink("file", filepath.Join(dir, "link")) }},
			readStep("link"), rewrite("file", "one\nx\n"), editStep("file", "one", "1", changed), readStep("file"), editStep("link", "one", "1", "edited file"),
		}, "1\nx\n"},
		{"another name, a hard link", []step{
			{do: func(dir string) error { return os.Link(filepath.Join(dir, "file"), filepath.Join(dir, "other")) }},
			readStep("other"), writeStep("file", "new\n", "1 other name (hard links), which still have the old content"),
		}, "new\n"},
		{"another name, a hard link, changed", []step{
			{do: func(dir string) error { return os.Link(filepath.Join(dir, "file"), filepath.Join(dir, "other")) }},
			readStep("other"), rewrite("other", "one\nx\n"), editStep("file", "one", "1", changed),
		}, "one\nx\n"},
		{"gone and made anew", []step{
			readStep("file"), {do: func(dir string) error { return os.Remove(filepath.Join(dir, "file")) }},
			writeStep("file", "new\n", "created"), editStep("file", "new", "newer", "edited"),
		}, "newer\n"},
		{"moved with what is known", []step{
			readStep("file"), patchStep("*** Update File: file\n*** Move to: moved\n", "moved file to moved"),
			writeStep("moved", "x\n", "overwrote"), writeStep("file", "new\n", "created"),
		}, "new\n"},
		{"moved without", []step{
			patchStep("*** Update File: file\n*** Move to: moved\n", "moved file to moved"), writeStep("moved", "x\n", unread), writeStep("file", "new\n", "created"),
		}, "new\n"},
		{"deleted and made anew by another", []step{
			readStep("file"), patchStep("*** Delete File: file\n", "deleted"), rewrite("file", "theirs\n"), writeStep("file", "new\n", unread),
		}, "theirs\n"},
		{"the number of a file that is gone", []step{
			readStep("file"), {do: func(dir string) error { return os.Remove(filepath.Join(dir, "file")) }},
			rewrite("fresh", "other\n"), editStep("fresh", "other", "changed", "edited"), writeStep("file", "end\n", "created"),
		}, "end\n"},
		{"a folder is not a file", []step{{do: func(dir string) error { return os.Mkdir(filepath.Join(dir, "d"), 0o755) }}, readStep("d"), writeStep("d", "x", "!is a folder")}, "one\ntwo\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFiles(t)
			f.put(t, "file", "one\ntwo\n")
			f.take(t, tt.steps)
			if got := f.content(t, "file"); got != tt.want {
				t.Errorf("the file holds %q, want %q", got, tt.want)
			}
		})
	}
}

// What one agent reads another does not know.
func TestSeenIsOneAgents(t *testing.T) {
	f := newFiles(t)
	f.put(t, "file", "one\n")
	f.call(t, "read_file", map[string]any{"path": "file"})
	other := tools.NewWriteFile(f.space, new(tools.Seen))
	res, err := other.Execute(t.Context(), []byte(`{"path":"file","content":"x"}`))
	if err != nil || !res.IsError {
		t.Errorf("another agent overwrote the file: %+v, %v", res, err)
	}
	if got, isError := f.call(t, "write_file", map[string]any{"path": "file", "content": "x"}); isError {
		t.Error(got)
	}
}
