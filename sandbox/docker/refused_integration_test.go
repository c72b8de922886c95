package docker_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"

	"github.com/belljar/belljar/sandbox"
)

// TestRefused asks for sandboxes that cannot be. Those that can be told before
// anything is made make no container; the others leave none.
func TestRefused(t *testing.T) {
	engine := connect(t)
	seen := observe(t, engine)
	// The first start with an image looks into it once; that is not the
	// container that this test is about.
	if err := start(t, engine, newSpec(t, os.Getuid(), os.Getgid())).Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		spec  func(*testing.T, *sandbox.Spec)
		words string
		made  bool // told only by a container
	}{
		{"missing", func(t *testing.T, s *sandbox.Spec) { s.Workspace = filepath.Join(t.TempDir(), "no such folder") }, "no such folder", false},
		{"a file", func(_ *testing.T, s *sandbox.Spec) { s.Workspace = file }, "is no folder", false},
		{"a file's inside", func(_ *testing.T, s *sandbox.Spec) { s.Workspace = file + "/inside" }, "not a directory", false},
		{"relative", func(_ *testing.T, s *sandbox.Spec) { s.Workspace = "." }, "absolute", false},
		{"no such image", func(_ *testing.T, s *sandbox.Spec) { s.Image = "belljar.invalid/none:1" }, "belljar.invalid/none:1", false},
		{"no such runtime", func(_ *testing.T, s *sandbox.Spec) { s.Runtime = "none" }, "runtime", false},
		{"unknown network", func(_ *testing.T, s *sandbox.Spec) { s.Network = "host" }, "host", false},
		{"too little memory", func(_ *testing.T, s *sandbox.Spec) { s.Limits.Memory = 1 << 20 }, "memory", false},
		{"folders as large as the memory", func(_ *testing.T, s *sandbox.Spec) { s.Limits.Tmp = s.Limits.Memory }, "ask for less", false},
		{"too little disk", func(_ *testing.T, s *sandbox.Spec) { s.Limits.Disk = 4096 }, "disk limit", false},
		{"unknown user", func(_ *testing.T, s *sandbox.Spec) { s.User = "nobody" }, "owner or root", false},
		{"another user's private folder", func(t *testing.T, s *sandbox.Spec) {
			if os.Getuid() != 0 {
				t.Skip("only root can ask for another user")
			}
			s.Owner.UID, s.Owner.GID = 1001, 1001
			if err := os.Chmod(s.Workspace, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "cannot be entered", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := newSpec(t, os.Getuid(), os.Getgid())
			spec.Session = newSession()
			test.spec(t, &spec)
			since := time.Now()
			sb, err := engine.Start(t.Context(), spec)
			if err == nil {
				t.Fatalf("a sandbox was started; closing it: %v", sb.Close())
			}
			if text := err.Error(); !strings.Contains(text, test.words) || strings.Contains(text, "\n") {
				t.Errorf("error = %q, want one line that says %q", text, test.words)
			}
			if list := seen.labeled(t, "belljar.session="+spec.Session); len(list) != 0 {
				t.Errorf("%d containers are left", len(list))
			}
			if made := seen.created(t, spec.Session, since); (made > 0) != test.made {
				t.Errorf("%d containers were made; one is needed to know: %v", made, test.made)
			}
		})
	}
}

// created counts the containers of a session that were made since a moment,
// which is short ago: the engine remembers only its latest events.
func (o observer) created(t testing.TB, session string, since time.Time) int {
	t.Helper()
	moment := func(at time.Time) string {
		return strconv.FormatInt(at.Unix(), 10) + "." + strings.TrimPrefix(at.Format(".000000000"), ".")
	}
	messages, failed := o.Events(t.Context(), events.ListOptions{
		Since: moment(since), Until: moment(time.Now()),
		Filters: filters.NewArgs(filters.Arg("label", "belljar.session="+session), filters.Arg("event", "create")),
	})
	for count := 0; ; {
		select {
		case <-messages:
			count++
		case <-failed:
			return count // io.EOF at the moment that was asked for
		}
	}
}
