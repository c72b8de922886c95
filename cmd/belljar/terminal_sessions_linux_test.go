package main

import (
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
)

// TestSessionsOnTerminal asserts that a list of runs fits 80 columns with
// room for the task, and that show takes the names it gives.
func TestSessionsOnTerminal(t *testing.T) {
	state := "BELLJAR_STATE_DIR=" + t.TempDir()
	ran := onTerminal(t, []string{state}, "run", "-w", t.TempDir(), "--model", "script:demo", "Count the words of the file, but not twice")
	listed := onTerminal(t, []string{state}, "sessions")
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(listed, "\r", "")), "\n")
	if len(lines) != 2 {
		t.Fatalf("not a heading and a line:\n%s", listed)
	}
	for _, line := range lines {
		if width := runewidth.StringWidth(line); width > 80 {
			t.Errorf("%d columns: %q", width, line)
		}
	}
	if !strings.Contains(lines[1], "Count the words of") {
		t.Errorf("the task has no room: %q", lines[1])
	}
	name, _, _ := strings.Cut(lines[1], " ")
	if !strings.Contains(ran, "belljar show "+name) {
		t.Errorf("the last line of run does not name %q:\n%s", name, ran)
	}
	if shown := onTerminal(t, []string{state}, "show", name); !strings.Contains(shown, "words.py works") || !strings.Contains(shown, "return Counter(text.split())") {
		t.Errorf("show %s does not show the run in full:\n%s", name, shown)
	}
}
