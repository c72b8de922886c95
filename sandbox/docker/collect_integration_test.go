//go:build linux

package docker_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox/docker"
)

// TestCollect tells about containers and cached files, and removes the stale.
func TestCollect(t *testing.T) {
	path, err := helper.build()
	_ = connect(t) // says what to do without an engine
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	engine, err := docker.Connect(t.Context(), docker.Options{Helper: path, CacheDir: cache})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	seen := observe(t, engine)
	spec := newSpec(t, os.Getuid(), os.Getgid())
	spec.Session = newSession()
	sb := start(t, engine, spec)
	labels := seen.inspect(t, sb.Info().ID).Config.Labels
	dead := seen.makeByHand(t, labels, map[string]string{"belljar.start": "1", "belljar.session": "dead"})
	stale, fresh := filepath.Join(cache, "bin", "supervisor-old"), filepath.Join(cache, "bin", "supervisor-new")
	if err := os.MkdirAll(filepath.Dir(stale), 0o755); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-30 * 24 * time.Hour)
	for _, name := range []string{stale, fresh} {
		if err := os.WriteFile(name, nil, 0o111); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(stale, old, old); err != nil {
		t.Fatal(err)
	}
	users, err := filepath.Glob(filepath.Join(cache, "users", "*"))
	if err != nil || len(users) != 1 {
		t.Fatalf("%v, error %v; want the users of one image", users, err)
	}
	agePaths(t, users[0], old) // they are mounted

	list, err := engine.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]docker.Listed{}
	for _, l := range list {
		states[l.ID] = l
	}
	if got := states[sb.Info().ID]; got.Owner != docker.OwnerAlive || got.PID != os.Getpid() || got.State != "running" ||
		got.Workspace != spec.Workspace || got.Session != spec.Session || got.Image != spec.Image {
		t.Errorf("the live sandbox is listed as %+v", got)
	}
	if got, there := states[dead]; there && got.Owner != docker.OwnerDead { // another test may have swept it
		t.Errorf("the container of a dead owner is listed as %+v", got)
	}
	for _, dry := range []bool{true, false} {
		all, err := engine.Collect(t.Context(), dry)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]bool{sb.Info().ID: false, stale: true, fresh: false, users[0]: false}
		for _, l := range all {
			if expected, known := want[l.Name]; known && (l.Stale != expected || l.Why == "" || l.Err != nil) {
				t.Errorf("dry run %v: %s is stale %v (%s), error %v", dry, l.Name, l.Stale, l.Why, l.Err)
			}
			delete(want, l.Name)
		}
		if len(want) > 0 {
			t.Errorf("dry run %v: nothing is said of %v", dry, want)
		}
		if _, err := os.Stat(stale); (err == nil) != dry {
			t.Errorf("dry run %v: the stale file: %v", dry, err)
		}
	}
	seen.wantGone(t, dead, hang)
	if got := script(t, sb, "echo still here"); got != "still here\n" {
		t.Errorf("output = %q", got)
	}
}

// agePaths makes a folder with all it holds look old.
func agePaths(t *testing.T, path string, when time.Time) {
	t.Helper()
	err := filepath.WalkDir(path, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, when, when)
	})
	if err != nil {
		t.Fatal(err)
	}
}
