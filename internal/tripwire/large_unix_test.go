//go:build linux || darwin

package tripwire_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/tripwire"
)

// TestLargeFile changes the end of a file that is too large to be read whole,
// and sets its time back.
func TestLargeFile(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".husky/tool", ".husky/other"} {
		put(t, dir, name, strings.Repeat("x", 17<<20))
	}
	wire := set(t, dir, tripwire.Options{})
	at := filepath.Join(dir, ".husky/tool")
	before, err := os.Stat(at)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(at, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("evil"), before.Size()-4); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(at, before.ModTime(), before.ModTime()); err != nil {
		t.Fatal(err)
	}
	changes, _ := check(t, wire)
	if diff := cmp.Diff([]string{"changed .husky/tool"}, changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}
