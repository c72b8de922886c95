package trajectory_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/google/go-cmp/cmp"
)

func create(t *testing.T, stateDir string) *trajectory.Session {
	t.Helper()
	s, err := trajectory.Create(stateDir, trajectory.Manifest{Task: "t"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestSessionRoundTrip(t *testing.T) {
	state := filepath.Join(t.TempDir(), "a", "b")
	s, err := trajectory.Create(state, trajectory.Manifest{Task: "t", Workspace: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	record(t, s.Writer(), bodies()...)
	m, err := s.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if m.V != 1 || m.Session != s.ID || time.Since(m.Started) > time.Hour || m.Started.Location() != time.UTC {
		t.Errorf("the manifest was not filled in: %+v", m)
	}
	m.Engine, m.Loosened = "Docker Engine 29", []string{"network"}
	if err := s.SetManifest(m); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	opened, err := trajectory.Open(state, s.ID)
	if err != nil {
		t.Fatal(err)
	}
	got, err := opened.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, got); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
	events, err := opened.Events()
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	n := 0
	for _, err := range trajectory.NewReader(events).All() {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != len(bodies()) {
		t.Errorf("%d events read, want %d", n, len(bodies()))
	}
	if opened.Writer() != nil || opened.Close() != nil {
		t.Error("a session opened for reading has a writer or cannot be closed")
	}
	names := []string{}
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"events.jsonl", "manifest.json", "outputs"}, names); diff != "" {
		t.Errorf("files of a session (-want +got):\n%s", diff)
	}
}

func TestSessionIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no mode bits")
	}
	s := create(t, filepath.Join(t.TempDir(), "state"))
	for path, want := range map[string]os.FileMode{
		filepath.Dir(s.Dir):                   0o700,
		s.Dir:                                 0o700,
		s.Outputs():                           0o700,
		filepath.Join(s.Dir, "events.jsonl"):  0o600,
		filepath.Join(s.Dir, "manifest.json"): 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
	}
}

func TestSessionsSideBySide(t *testing.T) {
	state := t.TempDir()
	const each, makers = 20, 8
	var wg sync.WaitGroup
	for range makers {
		wg.Go(func() {
			for range each {
				s, err := trajectory.Create(state, trajectory.Manifest{})
				if err != nil {
					t.Error(err)
					return
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	sessions, err := trajectory.List(state)
	if err != nil {
		t.Fatal(err)
	}
	if len(sessions) != each*makers {
		t.Errorf("%d sessions, want %d", len(sessions), each*makers)
	}
}

func TestListAndOpen(t *testing.T) {
	state := t.TempDir()
	for _, name := range []string{"20260101-000000-aaaa", "20260101-000000-bbbb", "20260202-000000-cccc", "lost+found", "20260202"} {
		if err := os.Mkdir(filepath.Join(state, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sessions, err := trajectory.List(state)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, s := range sessions {
		ids = append(ids, s.ID)
	}
	if diff := cmp.Diff([]string{"20260202-000000-cccc", "20260101-000000-bbbb", "20260101-000000-aaaa"}, ids); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	tests := map[string]struct{ name, want, wrong string }{
		"whole id":      {name: "20260101-000000-aaaa", want: "20260101-000000-aaaa"},
		"prefix":        {name: "202602", want: "20260202-000000-cccc"},
		"suffix":        {name: "bbbb", want: "20260101-000000-bbbb"},
		"more than one": {name: "20260101", wrong: "fits 2 sessions"},
		"none":          {name: "2027", wrong: "lists them"},
		"empty":         {name: "", wrong: "lists them"},
		"outside":       {name: "../x", wrong: "lists them"},
		"not a session": {name: "lost+found", wrong: "lists them"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := trajectory.Open(state, test.name)
			if test.wrong != "" {
				if !errors.Is(err, trajectory.ErrNoSession) || !strings.Contains(err.Error(), test.wrong) {
					t.Errorf("error %v, want ErrNoSession with %q", err, test.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if s.ID != test.want {
				t.Errorf("opened %s, want %s", s.ID, test.want)
			}
		})
	}
	none, err := trajectory.List(filepath.Join(state, "missing"))
	if err != nil || len(none) != 0 {
		t.Errorf("listing a missing folder: %v, %v", none, err)
	}
}

func TestLastEvent(t *testing.T) {
	const notice = `{"v":1,"type":"notice","time":"2026-01-02T03:04:05Z","seq":1,"kind":"a","text":"b"}` + "\n"
	const end = `{"v":1,"type":"end","time":"2026-01-02T03:04:05Z","seq":2,"stop":"finished","final":"","turns":1}` + "\n"
	tests := map[string]struct{ events, want string }{
		"ended":              {notice + end, "end"},
		"going on":           {notice, "notice"},
		"cut":                {notice + end[:20], "notice"},
		"broken line":        {notice + "\x00\x00\n", "notice"},
		"long record":        {strings.Repeat(notice, 20_000) + end, "end"},
		"nothing":            {"", ""},
		"one line, too long": {strings.Repeat("x", 2<<20), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := create(t, t.TempDir())
			if err := os.WriteFile(filepath.Join(s.Dir, "events.jsonl"), []byte(test.events), 0o600); err != nil {
				t.Fatal(err)
			}
			event, err := s.LastEvent()
			if test.want == "" {
				if !errors.Is(err, io.EOF) {
					t.Errorf("event %+v and error %v, want io.EOF", event, err)
				}
				return
			}
			if err != nil || event.Type != test.want {
				t.Errorf("event %+v and error %v, want a %s", event, err, test.want)
			}
		})
	}
}

func TestStateDir(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip("no home folder")
	}
	tests := map[string]struct{ own, xdg, want string }{
		"own":          {own: "/s", xdg: "/x", want: "/s"},
		"xdg":          {xdg: "/x", want: "/x/belljar"},
		"relative xdg": {xdg: "x", want: filepath.Join(home, ".local/state/belljar")},
		"default":      {want: filepath.Join(home, ".local/state/belljar")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("the paths are those of Unix")
			}
			t.Setenv("BELLJAR_STATE_DIR", test.own)
			t.Setenv("XDG_STATE_HOME", test.xdg)
			got, err := trajectory.StateDir()
			if err != nil || got != test.want {
				t.Errorf("%q and %v, want %q", got, err, test.want)
			}
		})
	}
}

func TestCreateSaysWhatToDo(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := trajectory.Create(filepath.Join(blocked, "state"), trajectory.Manifest{})
	if err == nil || !strings.Contains(err.Error(), "BELLJAR_STATE_DIR") {
		t.Errorf("error %v, want one that names BELLJAR_STATE_DIR", err)
	}
}
