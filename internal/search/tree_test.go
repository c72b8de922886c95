package search_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
)

// newSpace makes a workspace in a fresh folder.
func newSpace(t testing.TB) (*workspace.Workspace, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ws")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return spaceAt(t, dir), dir
}

// spaceAt makes a workspace of a folder that is there.
func spaceAt(t testing.TB, dir string) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Open(dir, "/workspace", sandbox.Owner{UID: os.Geteuid(), GID: os.Getegid(), Umask: 0o022})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// mountOf is a further folder as a sandbox sees it.
func mountOf(dir string) sandbox.Mount {
	return sandbox.Mount{Source: dir, Target: "/mnt/data", ReadOnly: true}
}

func put(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A grower makes random trees of few names, so that rules and patterns meet
// them.
type grower struct {
	*rand.Rand
	t        testing.TB
	dir      string
	dot      bool // with .ignore files
	classes  bool // with named classes, which ripgrep does not know
	nested   bool // with repositories in repositories
	contents bool // files hold random lines
}

func (g *grower) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g *grower) name() string {
	return g.pick("a", "b", "ab", "abc", "a.go", "b.go", "c.o", "a.b.c", "build", "src", ".hidden", ".a.go", "a-b", "a b", "é", "[x]", "!a", "#a", "A")
}

// rule makes one line of an ignore file.
func (g *grower) rule() string {
	var b strings.Builder
	if g.IntN(4) == 0 {
		b.WriteString("!")
	}
	if g.IntN(4) == 0 {
		b.WriteString("/")
	}
	for i := range 1 + g.IntN(3) {
		if i > 0 {
			b.WriteString("/")
		}
		class := "[a-zA-Z]"
		if g.classes {
			class = "[[:alpha:]]"
		}
		b.WriteString(g.pick("*", "**", "a*", "*b", "*.go", "*.o", "?", "a?", "[ab]", "[!a]", "[a-c]*", "a", "b", "ab", "build", "src",
			".*", "*.*", `\!a`, `\#a`, "a-b", "é", "*.[co]", "a[-x]b", class))
	}
	if g.IntN(4) == 0 {
		b.WriteString("/")
	}
	return b.String()
}

func (g *grower) rules() string {
	var b strings.Builder
	for range 1 + g.IntN(4) {
		b.WriteString(g.pick("", "", "", "# comment\n", "\n") + g.rule() + g.pick("\n", "\n", "  \n"))
	}
	return b.String()
}

func (g *grower) content() string {
	if !g.contents {
		return "x\n"
	}
	var b strings.Builder
	for range g.IntN(30) {
		for range g.IntN(8) {
			b.WriteString(g.pick("foo", "bar", "Foo", "needle", "x", "1", "42", "é", "中", "func ", "(", ")", " ", "\t", "_", "."))
		}
		b.WriteString("\n")
	}
	text := b.String()
	if g.IntN(5) == 0 {
		text = strings.TrimSuffix(text, "\n")
	}
	return text
}

func (g *grower) grow(at string, depth int) {
	for range g.IntN(8) {
		name := g.name()
		path := filepath.Join(g.dir, at, name)
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		if depth < 4 && g.IntN(2) == 0 {
			if err := os.Mkdir(path, 0o755); err != nil {
				g.t.Fatal(err)
			}
			g.grow(filepath.Join(at, name), depth+1)
			continue
		}
		put(g.t, g.dir, filepath.ToSlash(filepath.Join(at, name)), g.content())
	}
	if g.IntN(3) == 0 {
		put(g.t, g.dir, filepath.Join(at, ".gitignore"), g.rules())
	}
	if g.dot && g.IntN(5) == 0 {
		put(g.t, g.dir, filepath.Join(at, ".ignore"), g.rules())
	}
	if g.nested && depth > 0 && g.IntN(8) == 0 {
		put(g.t, g.dir, filepath.Join(at, ".git", "info", "exclude"), g.rules())
	}
	if depth == 0 {
		put(g.t, g.dir, "some/file.go", g.content())
	}
}

// ring makes folders that link to each other.
func ring(t testing.TB, dir string, n int) {
	t.Helper()
	for i := range n {
		name := filepath.Join(dir, fmt.Sprintf("ring%d", i))
		if err := os.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(fmt.Sprintf("../ring%d", (i+1)%n), filepath.Join(name, "next")); err != nil {
			t.Fatal(err)
		}
	}
}
