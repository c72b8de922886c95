package search_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belljar/belljar/internal/leaktest"
	"github.com/belljar/belljar/internal/search"
	"github.com/belljar/belljar/internal/workspace"
	"github.com/google/go-cmp/cmp"
)

func pattern(t testing.TB, text string) *search.Pattern {
	t.Helper()
	p, err := search.NewPattern(text, search.PatternOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func grep(t testing.TB, w *workspace.Workspace, opts search.GrepOptions) search.Matches {
	t.Helper()
	m, err := search.Grep(t.Context(), w, opts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Folders that link to each other and to those above are walked once.
func TestWalkLinkLoops(t *testing.T) {
	w, dir := newSpace(t)
	ring(t, dir, 10)
	if err := os.Symlink("..", filepath.Join(dir, "ring3", "up")); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "ring5/file", "needle\n")
	if diff := cmp.Diff([]string{"ring5/file"}, found(t, w, search.GlobOptions{Pattern: "**"})); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if m := grep(t, w, search.GrepOptions{Pattern: pattern(t, "needle"), Mode: search.Counts, Limit: 10}); m.Total != 1 {
		t.Errorf("%d matches", m.Total)
	}
}

// A search that may not open another file says that, and not that files cannot
// be read.
func TestWalkWithoutFiles(t *testing.T) {
	const where = "BELLJAR_TEST_FEW_FILES"
	if dir := os.Getenv(where); dir != "" {
		m := grep(t, spaceAt(t, dir), search.GrepOptions{Pattern: pattern(t, "needle"), Mode: search.Counts, Limit: 10})
		if m.Total == 0 || m.Total == 40 || m.Starved == 0 || m.Unreadable != 0 {
			t.Errorf("%d matches, starved %d, unreadable %d", m.Total, m.Starved, m.Unreadable)
		}
		return
	}
	dir := t.TempDir()
	for depth := range 40 { // what lies beside a folder keeps it open
		put(t, dir, strings.Repeat("d/", depth)+"e/f", "needle\n")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The runtime raises the soft limit, so it is the hard one that is set.
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -n 24 && exec "$0" -test.run '^TestWalkWithoutFiles$' -test.v`, exe)
	cmd.Env = append(os.Environ(), where+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestWalkIsBoundedInDepth(t *testing.T) {
	leaktest.Check(t, 0)
	w, dir := newSpace(t)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	for range search.MaxDepth + 20 {
		if err := root.Mkdir("d", 0o755); err != nil {
			t.Fatal(err)
		}
		next, err := root.OpenRoot("d")
		if err != nil {
			t.Fatal(err)
		}
		root.Close()
		root = next
	}
	root.Close()
	l, err := search.Find(t.Context(), w, search.GlobOptions{Pattern: "**/d/", Limit: 10})
	if err != nil || l.Deep != 1 || l.Total != search.MaxDepth+1 {
		t.Errorf("%d folders, %d too deep, %v", l.Total, l.Deep, err)
	}
}

// A walk that is stopped gives back what it has, and says so.
func TestWalkStops(t *testing.T) {
	leaktest.Check(t, 0)
	w, dir := newSpace(t)
	for i := range 100 {
		put(t, dir, fmt.Sprintf("d%d/sub/f", i), "needle\n")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m, err := search.Grep(ctx, w, search.GrepOptions{Pattern: pattern(t, "needle"), Mode: search.Counts, Limit: 10})
	if err != nil || !m.Stopped {
		t.Errorf("%+v, %v", m, err)
	}
	l, err := search.Find(ctx, w, search.GlobOptions{Pattern: "**", Limit: 10})
	if err != nil || !l.Stopped {
		t.Errorf("%+v, %v", l, err)
	}
}

// The first in the order of paths are given, however many workers there are,
// and what is behind them is not searched for nothing.
func TestGrepFixedOrder(t *testing.T) {
	leaktest.Check(t, 0)
	w, dir := newSpace(t)
	for i := range 400 {
		put(t, dir, fmt.Sprintf("d%02d/f%03d", i%20, i), strings.Repeat("needle\n", 1+i%3))
	}
	opts := search.GrepOptions{Pattern: pattern(t, "needle"), Limit: 25, FileLimit: 2, Bytes: 1 << 20, LineBytes: 100}
	paths := func() (list []string, more bool) {
		m := grep(t, w, opts)
		for _, f := range m.Files {
			list = append(list, fmt.Sprint(f.Path, f.Shown, f.Total, len(f.Lines)))
		}
		return list, m.More
	}
	want, more := paths()
	if !more || len(want) < 13 || !strings.HasPrefix(want[0], "d00/f000") {
		t.Fatalf("%v, more: %v", want, more)
	}
	for range 50 {
		got, _ := paths()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("another order (-first +now):\n%s", diff)
		}
	}
}

// A rule in a folder above the one that is searched counts, and one above a
// repository does not.
func TestRulesAbove(t *testing.T) {
	w, dir := newSpace(t)
	put(t, dir, ".gitignore", "*.log\n/a/b/skipped\n")
	put(t, dir, "a/.ignore", "!kept.log\n")
	put(t, dir, "a/b/x.log", "")
	put(t, dir, "a/b/kept.log", "")
	put(t, dir, "a/b/skipped/f", "")
	put(t, dir, "a/b/f", "")
	put(t, dir, "repo/.git/info/exclude", "private\n")
	put(t, dir, "repo/sub/x.log", "")
	put(t, dir, "repo/sub/private", "")
	for start, want := range map[string][]string{
		"a/b":      {"a/b/f", "a/b/kept.log"},
		"repo/sub": {"repo/sub/x.log"},
	} {
		if diff := cmp.Diff(want, found(t, w, search.GlobOptions{Pattern: "**", Path: start})); diff != "" {
			t.Errorf("in %s (-want +got):\n%s", start, diff)
		}
	}
}

// Another mounted folder has paths of its own, and its own rules.
func TestSearchFurtherFolder(t *testing.T) {
	w, _ := newSpace(t)
	further := t.TempDir()
	put(t, further, ".gitignore", "sub/*.log\n")
	put(t, further, "sub/x.log", "needle\n")
	put(t, further, "sub/f", "needle\n")
	if err := w.Add(mountOf(further)); err != nil {
		t.Fatal(err)
	}
	for _, start := range []string{"/mnt/data", "/mnt/data/sub"} {
		m := grep(t, w, search.GrepOptions{Path: start, Pattern: pattern(t, "needle"), Mode: search.Names, Limit: 10})
		if len(m.Files) != 1 || m.Files[0].Path != "/mnt/data/sub/f" {
			t.Errorf("in %s: %+v", start, m.Files)
		}
	}
}

func TestGlobErrors(t *testing.T) {
	for _, bad := range []string{"", "[", "{a", "a{b,c", strings.Repeat("{a,b}", 20), strings.Repeat("{a,{b,c}}", 8), strings.Repeat("{[{a,a,a}],b}", 8), strings.Repeat("{a,a,a,a,a,a,a,a,a,a,a,a,a}", 5), strings.Repeat("x", 2000), `a\`} {
		if g, err := search.NewGlob(bad); err == nil {
			t.Errorf("%q is taken: %+v", bad, g)
		}
	}
	for _, good := range []string{"*.{c,h,cc,hh}", "{a,b}/{c,d}/{e,f}{g,h}", "[{]x", strings.Repeat("{a}", 20), `\{a,b`} {
		if _, err := search.NewGlob(good); err != nil {
			t.Errorf("%q is refused: %v", good, err)
		}
	}
	w, _ := newSpace(t)
	_, err := search.Find(t.Context(), w, search.GlobOptions{Pattern: "[", Limit: 1})
	var wrong *search.PatternError
	if !errors.As(err, &wrong) {
		t.Errorf("%v is no PatternError", err)
	}
}

// A pattern of names is taken or refused, and one without marks is a name.
func FuzzGlob(f *testing.F) {
	for _, seed := range [][2]string{
		{"**/*.go", "a/b.go"}, {"{a,b}/**", "a/x"}, {"[!a]*", "b"}, {"a", "a"}, {`\*`, "*"}, {"**/", "a"}, {"{", "{"}, {"*{a,*{b,c}}*", "abc"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		if len(name) > 100 || len(text) > 100 {
			return
		}
		g, err := search.NewGlob(text)
		if err != nil {
			return
		}
		g.Match(name)
		if !strings.ContainsAny(text, `*?[]{}\/`) && !strings.Contains(text, "..") && text != "." && !g.Match("dir/"+text) {
			t.Errorf("%q does not match itself", text)
		}
	})
}
