package tools_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/belljar/belljar/tools"
)

// An answer is bounded whatever the lines and the names hold, and says why it
// ends.
func TestGrepAnswerIsBounded(t *testing.T) {
	for _, tt := range []struct {
		name, at, text string
		count          int
		args           map[string]any
	}{
		{"control bytes", "c", strings.Repeat("\x01", 5) + "needle" + strings.Repeat("\x01", 389) + "\n", 75, nil},
		{"control bytes of one file", "c", strings.Repeat(strings.Repeat("\x01", 5)+"needle"+strings.Repeat("\x01", 300)+"\n", 90), 1, map[string]any{"path": "c0"}},
		{"long paths", strings.Repeat(strings.Repeat("d", 200)+"/", 15) + "f", "needle\n", 50, nil},
		{"long lines", "c", "needle" + strings.Repeat("x", 390) + "\n", 200, map[string]any{"limit": 1000}},
		{"empty context", "c", strings.Repeat(strings.Repeat("\n", 41)+"needle\n", 1000), 1, map[string]any{"path": "c0", "limit": 1000, "context": 20}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFiles(t)
			for i := range tt.count {
				f.put(t, fmt.Sprintf("%s%d", tt.at, i), tt.text)
			}
			args := map[string]any{"pattern": "needle"}
			for name, value := range tt.args {
				args[name] = value
			}
			got, isError := f.call(t, "grep", args)
			if isError || len(got) > tools.GrepBytes+8<<10 {
				t.Errorf("%d bytes: %.100q", len(got), got)
			}
			if !strings.Contains(got, "[more matches exist ") || !strings.Contains(got, ": narrow the pattern, path or glob: an answer holds about 30 KiB]") {
				t.Errorf("it ends in %q", got[max(len(got)-300, 0):])
			}
		})
	}
}

func TestGlobAnswerIsBounded(t *testing.T) {
	f := newFiles(t)
	for i := range 200 {
		f.put(t, fmt.Sprintf("%s%d.txt", strings.Repeat("n", 200), i), "")
	}
	got, _ := f.call(t, "glob", map[string]any{"pattern": "*.txt", "limit": 1000})
	if !strings.HasSuffix(got, " more exist: narrow the pattern]\n") {
		t.Errorf("it ends in %q", got[max(len(got)-100, 0):])
	}
}

// A glob of grep may be relative to path, or to the workspace, or absolute.
func TestGrepGlobForms(t *testing.T) {
	f := newFiles(t)
	f.put(t, "src/a/b.go", "needle\n")
	f.put(t, "src/a/b.txt", "needle\n")
	for _, tt := range []struct {
		path, glob string
		found      bool
	}{
		{"src", "a/*.go", true}, {"src", "src/**/*.go", true}, {"", "/workspace/src/**/*.go", true}, {"src", "/workspace/src/**/*.go", true},
		{"src", "*.go", true}, {"src", "b/*.go", false}, {"", "/workspace/b/**", false},
	} {
		got, _ := f.call(t, "grep", map[string]any{"pattern": "needle", "path": tt.path, "glob": tt.glob, "mode": "files"})
		if (got == "src/a/b.go\n") != tt.found || strings.Contains(got, "no file there matches the glob") == tt.found {
			t.Errorf("path %q, glob %q: %q", tt.path, tt.glob, got)
		}
	}
}
