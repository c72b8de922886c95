package main

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/belljar/belljar/agent/trajectory"
)

// TestCompletionReadsNoEvents: a shell that completes a name waits for the
// manifests alone. Events hold images and whole results; here they are a pipe
// that nobody writes to, so reading them does not come to an end.
func TestCompletionReadsNoEvents(t *testing.T) {
	state := t.TempDir()
	t.Setenv("BELLJAR_STATE_DIR", state)
	session, err := trajectory.Create(state, trajectory.Manifest{Task: "say hello\nin German"})
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	events := filepath.Join(session.Dir, "events.jsonl")
	if err := os.Remove(events); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(events, 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan []string, 1) // the one answer, also after the test gave up
	go func() {
		names, _ := completeSessions(nil, nil, "")
		got <- names
	}()
	select {
	case names := <-got:
		if want := []string{cobra.CompletionWithDesc(session.ID, "say hello")}; !slices.Equal(names, want) {
			t.Errorf("%q, want %q", names, want)
		}
	case <-time.After(10 * time.Second):
		t.Error("the events are read")
	}
}
