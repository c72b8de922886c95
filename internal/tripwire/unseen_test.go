package tripwire_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/tripwire"
)

// fill makes folders with files that are watched, more than a bound of 20
// names lets a walk see.
func fill(t *testing.T, dir string) {
	t.Helper()
	for i := range 15 {
		put(t, dir, fmt.Sprintf("d%02d/.github/workflows/ci.yml", i), "old")
		put(t, dir, fmt.Sprintf("d%02d/.envrc", i), "old")
	}
}

// TestNotReached lets one of two walks be cut short, of all that is there or of
// the last of it. Nothing was changed, so nothing may be told as changed: what
// only one of them saw was there all along.
func TestNotReached(t *testing.T) {
	for _, tt := range []struct {
		name          string
		before, after tripwire.Options
		gap           string
	}{
		{"names before", tripwire.Options{Entries: 20}, tripwire.Options{}, "before the commands: there are more than 20 names"},
		{"names after", tripwire.Options{}, tripwire.Options{Entries: 20}, "after the commands: there are more than 20 names"},
		{"names of the first folder", tripwire.Options{Entries: 1}, tripwire.Options{}, "before the commands: there are more than 1 names"},
		{"the last name", tripwire.Options{Entries: 73}, tripwire.Options{}, "before the commands: there are more than 73 names"},
		{"time before", tripwire.Options{Time: time.Nanosecond}, tripwire.Options{}, "before the commands: it took longer than 1ns"},
		{"time after", tripwire.Options{}, tripwire.Options{Time: time.Nanosecond}, "after the commands: it took longer than 1ns"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, dir)
			wire := set(t, dir, tt.before)
			wire.Bound(tt.after)
			changes, gaps := check(t, wire)
			if len(changes) > 0 {
				t.Errorf("changes = %q, want none", changes)
			}
			if len(gaps) != 1 || !strings.Contains(gaps[0], tt.gap) {
				t.Errorf("gaps = %q, want one with %q", gaps, tt.gap)
			}
		})
	}
}

// TestReached: of what the walk that was cut short did see, all is told.
func TestReached(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, ".envrc", "old")
	put(t, dir, ".profile", "old")
	fill(t, dir)
	wire := set(t, dir, tripwire.Options{Entries: 20})
	wire.Bound(tripwire.Options{})
	put(t, dir, ".envrc", "new")
	put(t, dir, ".bashrc", "new")
	put(t, dir, "new/.envrc", "new")
	remove(t, dir, ".profile")
	changes, _ := check(t, wire)
	want := []string{"added .bashrc", "changed .envrc", "removed .profile", "added new/.envrc"}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// TestCutShortInConfiguration: the program was there, and the first walk did not
// get to the configuration that names it.
func TestCutShortInConfiguration(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "tools/watch", "old")
	put(t, dir, "a/b/.git/config", "[core]\n\tfsmonitor = ../../tools/watch\n")
	put(t, dir, "a/b/tools/watch", "old")
	put(t, dir, "a/b/.git/config.worktree", "[core]\n\tfsmonitor = ./tools/watch\n")
	wire := set(t, dir, tripwire.Options{Entries: 5})
	wire.Bound(tripwire.Options{})
	if changes, _ := check(t, wire); len(changes) > 0 {
		t.Errorf("changes = %q, want none", changes)
	}
}

// TestNamedLater: a configuration begins to name a file that was there, and one
// that it named all along comes to be.
func TestNamedLater(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, ".git/config", "[core]\n\tfsmonitor = ./tools/missing\n\thooksPath = hooks\n")
	put(t, dir, "tools/watch", "old")
	put(t, dir, "ours/pre-push", "old")
	wire := set(t, dir, tripwire.Options{})
	put(t, dir, "tools/missing", "new")
	put(t, dir, "hooks/pre-push", "new")
	put(t, dir, ".git/config.worktree", "[core]\n\tfsmonitor = ./tools/watch\n\thooksPath = ours\n")
	changes, _ := check(t, wire)
	want := []string{"added .git/config.worktree", "added hooks/pre-push", "obeyed ours/pre-push", "added tools/missing", "obeyed tools/watch"}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// TestMarkedLater: a folder that was there becomes an environment or a
// repository, and others come to be.
func TestMarkedLater(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "env/bin/activate", "old")
	put(t, dir, "bare/config", "old")
	put(t, dir, "bare/hooks/update", "old")
	put(t, dir, "bare/objects/x", "old")
	wire := set(t, dir, tripwire.Options{})
	put(t, dir, "env/pyvenv.cfg", "new")
	put(t, dir, "bare/HEAD", "new")
	put(t, dir, "bare/refs/x", "new")
	put(t, dir, "other/pyvenv.cfg", "new")
	put(t, dir, "other/bin/activate", "new")
	changes, _ := check(t, wire)
	want := []string{"obeyed bare/config", "obeyed bare/hooks/update", "added env/pyvenv.cfg", "added other/pyvenv.cfg",
		"obeyed env/bin/activate", "added other/bin/activate"}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// TestClosedFolder: what lies in a folder that could be read only once was
// neither added nor removed.
func TestClosedFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("nothing is closed to root")
	}
	for _, tt := range []struct {
		name          string
		before, after os.FileMode
		gap           string
	}{
		{"opened", 0, 0o755, `"closed" could not be read before`},
		{"closed", 0o755, 0, `"closed" cannot be read any more`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "closed/.envrc", "old")
			at := filepath.Join(dir, "closed")
			t.Cleanup(func() { _ = os.Chmod(at, 0o755) })
			if err := os.Chmod(at, tt.before); err != nil {
				t.Fatal(err)
			}
			wire := set(t, dir, tripwire.Options{})
			if err := os.Chmod(at, tt.after); err != nil {
				t.Fatal(err)
			}
			changes, gaps := check(t, wire)
			if len(changes) > 0 || len(gaps) != 1 || !strings.Contains(gaps[0], tt.gap) {
				t.Errorf("changes = %q, gaps = %q; want no change and that %s", changes, gaps, tt.gap)
			}
		})
	}
}
