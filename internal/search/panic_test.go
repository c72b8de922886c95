package search

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
)

// A breaker panics at a name.
type breaker struct{}

func (breaker) skip(string) bool { return false }

func (breaker) visit(_ *node, _ string, e workspace.Entry) {
	if e.Name == "bad" {
		panic("broken")
	}
}

// What a worker panics with comes up on the goroutine of the call, and every
// worker ends.
func TestWalkPanics(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/b/bad", "a/good", "c/bad", "c/d/e"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w, err := workspace.Open(dir, "/workspace", sandbox.Owner{UID: os.Geteuid(), GID: os.Getegid(), Umask: 0o022})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	from, err := w.OpenFolder(".")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if value := recover(); value != "broken" {
			t.Errorf("it panicked with %v", value)
		}
	}()
	run(t.Context(), w, from, options{folders: true}, []visitor{breaker{}, breaker{}})
	t.Error("it did not panic")
}
