package tools_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/belljar/belljar/tools"
	"github.com/google/go-cmp/cmp"
)

// TestFileSums: a result tells which contents of files the call read or left.
func TestFileSums(t *testing.T) {
	sum := func(text string) string {
		s := sha256.Sum256([]byte(text))
		return hex.EncodeToString(s[:])
	}
	f := newFiles(t)
	f.put(t, "a.txt", "one\ntwo\n")
	f.put(t, "sub/bin", "\x00\x01")
	for _, tc := range []struct {
		name, tool string
		args       map[string]any
		want       []tools.FileSum
	}{
		{"a part of a file", "read_file", map[string]any{"path": "a.txt", "limit": 1}, []tools.FileSum{{Path: "a.txt", SHA256: sum("one\ntwo\n")}}},
		{"no text", "read_file", map[string]any{"path": "sub/bin"}, []tools.FileSum{{Path: "sub/bin", SHA256: sum("\x00\x01")}}},
		{"a folder", "read_file", map[string]any{"path": "sub"}, nil},
		{"a missing file", "read_file", map[string]any{"path": "none"}, nil},
		{"a new file", "write_file", map[string]any{"path": "/workspace/b.txt", "content": "new\n"}, []tools.FileSum{{Path: "b.txt", SHA256: sum("new\n")}}},
		{"the same again", "write_file", map[string]any{"path": "b.txt", "content": "new\n"}, []tools.FileSum{{Path: "b.txt", SHA256: sum("new\n")}}},
		{"an edit", "edit_file", map[string]any{"path": "a.txt", "old_text": "two", "new_text": "2"}, []tools.FileSum{{Path: "a.txt", SHA256: sum("one\n2\n")}}},
		{"an edit that fails", "edit_file", map[string]any{"path": "a.txt", "old_text": "three", "new_text": "3"}, nil},
		{
			"a patch", "apply_patch",
			map[string]any{"patch": "*** Begin Patch\n*** Add File: c.txt\n+c\n*** Delete File: b.txt\n*** End Patch\n"},
			[]tools.FileSum{{Path: "c.txt", SHA256: sum("c\n")}, {Path: "b.txt"}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args, err := json.Marshal(tc.args)
			if err != nil {
				t.Fatal(err)
			}
			res, err := f.registry.Execute(t.Context(), tc.tool, args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, res.Files); diff != "" {
				t.Errorf("files (-want +got):\n%s\n%v", diff, res.Parts)
			}
		})
	}
}

// TestWithoutNews: only whole lines at the end about the end of a job are left out.
func TestWithoutNews(t *testing.T) {
	for _, tc := range []struct {
		name, text, want string
		had              bool
	}{
		{"news", "out\n[exit code 0]\n[job1 (sleep 1) has ended: exit code 0; bash_output shows what it wrote]", "out\n[exit code 0]", true},
		{"none", "out\n[exit code 0]\n", "out\n[exit code 0]\n", false},
		{"a job that is no news", "[job1 runs in the background]\n[exit code 0]", "[job1 runs in the background]\n[exit code 0]", false},
		{"of two jobs", "out\n[job1 (a) has ended: x]\n[job2 (b) has ended: y]", "out", true},
		{"of a command", "[job1 (a) has ended: y]\n[exit code 0]", "[job1 (a) has ended: y]\n[exit code 0]", false},
		{"in a line", "x [job1 (a) has ended: y]\n[exit code 0]", "x [job1 (a) has ended: y]\n[exit code 0]", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, had := tools.WithoutNews(tc.text)
			if got != tc.want || had != tc.had {
				t.Errorf("%q, %v; want %q, %v", got, had, tc.want, tc.had)
			}
		})
	}
}
