//go:build unix

package tools_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Nothing writes to the FIFO: a tool that opened it would wait for ever.
func TestFileToolsRefuseFIFO(t *testing.T) {
	f := newFiles(t)
	if err := syscall.Mkfifo(filepath.Join(f.dir, "pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string]map[string]any{
		"read_file":   {"path": "pipe"},
		"write_file":  {"path": "pipe", "content": "x"},
		"edit_file":   {"path": "pipe", "old_text": "a", "new_text": "b"},
		"apply_patch": {"patch": "*** Begin Patch\n*** Update File: pipe\n+x\n*** End Patch"},
		"grep":        {"path": "pipe", "pattern": "x"},
	} {
		if got, isError := f.call(t, name, args); !isError || !strings.Contains(got, "FIFO") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Searching a folder passes over a FIFO.
func TestSearchPassesOverFIFO(t *testing.T) {
	f := newFiles(t)
	if err := syscall.Mkfifo(filepath.Join(f.dir, "pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	f.put(t, "file", "needle\n")
	if got, isError := f.call(t, "grep", map[string]any{"pattern": "needle"}); isError || got != "file\n1:needle\n" {
		t.Errorf("grep: %q", got)
	}
	if got, isError := f.call(t, "glob", map[string]any{"pattern": "**"}); isError || got != "file\n" {
		t.Errorf("glob: %q", got)
	}
}
