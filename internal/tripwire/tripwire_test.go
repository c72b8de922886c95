package tripwire_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/tripwire"
)

func put(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func set(t testing.TB, dir string, opts tripwire.Options) *tripwire.Wire {
	t.Helper()
	wire, err := tripwire.Set(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return wire
}

// check gives the changes as "kind path", and the gaps.
func check(t testing.TB, wire *tripwire.Wire) (changes, gaps []string) {
	t.Helper()
	report, err := wire.Check()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Changes {
		changes = append(changes, string(c.Kind)+" "+c.Path)
		if c.What == "" {
			t.Errorf("%s does not say what obeys it", c.Path)
		}
	}
	return changes, report.Gaps
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name string
		have []string // files that are there before
		do   func(t *testing.T, dir string)
		want []string
	}{
		{"nothing", []string{".git/config", ".envrc"}, func(*testing.T, string) {}, nil},
		{"ordinary work", []string{"Makefile", "package.json", ".gitattributes"}, func(t *testing.T, dir string) {
			put(t, dir, "Makefile", "new")
			put(t, dir, "src/main.go", "new")
			put(t, dir, ".editorconfig", "new")
			put(t, dir, ".gitattributes", "*.txt text\n")
			put(t, dir, ".git/objects/ab/config", "new")
			put(t, dir, ".git/index", "new")
			put(t, dir, ".git/hooks/pre-push.sample", "new")
		}, nil},
		{"added", nil, func(t *testing.T, dir string) {
			put(t, dir, ".envrc", "x")
			put(t, dir, "deep/er/.vscode/tasks.json", "x")
			put(t, dir, ".github/workflows/ci.yml", "x")
			put(t, dir, ".git/hooks/pre-commit", "x")
			put(t, dir, ".git/commondir", "x")
			put(t, dir, "sub/.git", "gitdir: ../x")
		}, []string{"added .git/commondir", "added .git/hooks/pre-commit", "added sub/.git", "added .envrc",
			"added .github/workflows/ci.yml", "added deep/er/.vscode/tasks.json"}},
		{"changed", []string{".bashrc", "sub/.git/config", ".git/modules/m/HEAD", ".git/modules/m/objects/x", ".git/modules/m/refs/x", ".git/modules/m/config"},
			func(t *testing.T, dir string) {
				put(t, dir, ".bashrc", "x")
				put(t, dir, "sub/.git/config", "x")
				put(t, dir, ".git/modules/m/config", "x")
			}, []string{"changed .git/modules/m/config", "changed sub/.git/config", "changed .bashrc"}},
		{"removed", []string{".gitmodules"}, func(t *testing.T, dir string) { remove(t, dir, ".gitmodules") }, []string{"removed .gitmodules"}},
		{"mode", []string{".git/hooks/x"}, func(t *testing.T, dir string) {
			if err := os.Chmod(filepath.Join(dir, ".git/hooks/x"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, []string{"mode .git/hooks/x"}},
		{"replaced by a link", []string{".npmrc"}, func(t *testing.T, dir string) {
			remove(t, dir, ".npmrc")
			symlink(t, dir, "/etc/passwd", ".npmrc")
		}, []string{"replaced .npmrc"}},
		{"a folder replaced by a link", []string{".vscode/tasks.json", "evil/tasks.json"}, func(t *testing.T, dir string) {
			remove(t, dir, ".vscode")
			symlink(t, dir, "evil", ".vscode")
			put(t, dir, "evil/tasks.json", "x")
		}, []string{"added .vscode", "changed .vscode/tasks.json"}},
		{"a bare repository", nil, func(t *testing.T, dir string) {
			for _, name := range []string{"HEAD", "objects/x", "refs/x", "config"} {
				put(t, dir, "innocent/"+name, "x")
			}
		}, []string{"added innocent/config"}},
		{"dependencies", nil, func(t *testing.T, dir string) {
			put(t, dir, "node_modules/a/.vscode/tasks.json", "x")
			put(t, dir, "node_modules/a/.git/config", "x")
		}, []string{"added node_modules/a/.git/config"}},
		{"other systems of versions", nil, func(t *testing.T, dir string) {
			put(t, dir, ".hg/hgrc", "x")
			put(t, dir, ".hg/store/data", "x")
			put(t, dir, "sub/.jj/repo/config.toml", "x")
		}, []string{"added .hg/hgrc", "added sub/.jj/repo/config.toml"}},
		{"an environment of Python", []string{"venv/pyvenv.cfg", "venv/bin/activate", "venv/bin/pip"}, func(t *testing.T, dir string) {
			put(t, dir, "venv/bin/activate", "x")
			put(t, dir, "venv/bin/pip", "x")
			symlink(t, dir, "../../evil", "venv/bin/python")
			put(t, dir, "bin/activate", "x")
		}, []string{"changed venv/bin/activate", "added venv/bin/python"}},
		{"tools that tools run", nil, func(t *testing.T, dir string) {
			put(t, dir, ".yarn/releases/yarn.cjs", "x")
			put(t, dir, ".yarn/cache/a.zip", "x")
			put(t, dir, "rust-toolchain.toml", "x")
			put(t, dir, "a.code-workspace", "x")
		}, []string{"added a.code-workspace", "added rust-toolchain.toml", "added .yarn/releases/yarn.cjs"}},
		{"attributes with a program", []string{".gitattributes"}, func(t *testing.T, dir string) {
			put(t, dir, ".gitattributes", "* filter=evil\n")
			put(t, dir, "new/.gitattributes", "* filter=evil\n")
		}, []string{"changed .gitattributes", "added new/.gitattributes"}},
		{"attributes without a program", []string{".gitattributes", "gone/.gitattributes"}, func(t *testing.T, dir string) {
			put(t, dir, ".gitattributes", "*.txt text\n")
			remove(t, dir, "gone")
			put(t, dir, "new/.gitattributes", "*.txt text\n")
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range tt.have {
				put(t, dir, name, "old")
			}
			wire := set(t, dir, tripwire.Options{})
			tt.do(t, dir)
			changes, gaps := check(t, wire)
			if diff := cmp.Diff(tt.want, changes); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			if len(gaps) != 0 {
				t.Errorf("gaps = %q, want none", gaps)
			}
		})
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, dir, target, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// TestLedTo changes what a hook or the configuration leads to, and leaves them
// alone.
func TestLedTo(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "scripts/check", "old")
	put(t, dir, "tools/hooks/pre-push", "old")
	put(t, dir, "shared.conf", "old")
	put(t, dir, ".git/hooks/keep", "old")
	put(t, dir, ".git/config", "[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../shared.conf\n")
	symlink(t, dir, "../../scripts/check", ".git/hooks/pre-commit")
	wire := set(t, dir, tripwire.Options{})
	for _, name := range []string{"scripts/check", "tools/hooks/pre-push", "shared.conf"} {
		put(t, dir, name, "new")
	}
	changes, _ := check(t, wire)
	want := []string{"changed .git/hooks/pre-commit", "changed shared.conf", "changed tools/hooks/pre-push"}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// TestLedToByAbsolutePath: a configuration may name the workspace itself.
func TestLedToByAbsolutePath(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "ours/pre-push", "old")
	put(t, dir, ".git/config", "[core]\n\thooksPath = "+filepath.Join(dir, "ours")+"\n[include]\n\tpath = /etc/gitconfig\n")
	wire := set(t, dir, tripwire.Options{})
	put(t, dir, "ours/pre-push", "new")
	changes, _ := check(t, wire)
	if diff := cmp.Diff([]string{"changed ours/pre-push"}, changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// TestLedToFromElsewhere: a configuration can be in several files and name its
// files in several ways.
func TestLedToFromElsewhere(t *testing.T) {
	outside := t.TempDir()
	for _, test := range []struct{ name, config, worktree, included, want string }{
		{name: "hooks by an included file", config: "[include]\n\tpath = ../tools/git.conf\n", included: "[core]\n\thooksPath = tools/hooks\n", want: "tools/hooks/pre-push"},
		{name: "hooks of a worktree", worktree: "[core]\n\thooksPath = tools/hooks\n", want: "tools/hooks/pre-push"},
		{name: "hooks below the home folder", config: "[core]\n\thooksPath = ~/tools/hooks\n", want: "tools/hooks/pre-push"},
		{name: "hooks through a link from outside", config: "[core]\n\thooksPath = " + outside + "/link/tools/hooks\n", want: "tools/hooks/pre-push"},
		{name: "hooks in the line of the section", config: "[core] hooksPath = tools/hooks\n", want: "tools/hooks/pre-push"},
		{name: "a file that includes itself", config: "[include]\n\tpath = ../tools/git.conf\n", included: "[include]\n\tpath = git.conf\n[core]\n\tfsmonitor = tools/watch --all\n", want: "tools/watch"},
		{name: "a filter", config: "[filter \"x\"]\n\tclean = ./tools/watch %f\n", want: "tools/watch"},
		{name: "a helper of the shell", config: "[credential]\n\thelper = !tools/watch\n", want: "tools/watch"},
		{name: "attributes", config: "[core]\n\tattributesFile = ../tools/watch\n", want: "tools/watch"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("HOME", dir)
			link := filepath.Join(outside, "link")
			_ = os.Remove(link) // that of the case before
			if err := os.Symlink(dir, link); err != nil {
				t.Fatal(err)
			}
			put(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
			put(t, dir, ".git/config", test.config)
			put(t, dir, ".git/config.worktree", test.worktree)
			put(t, dir, "tools/git.conf", test.included)
			put(t, dir, "tools/hooks/pre-push", "old")
			put(t, dir, "tools/watch", "old")
			put(t, dir, "tools/other", "old")
			wire := set(t, dir, tripwire.Options{})
			for _, name := range []string{test.want, "tools/other"} {
				put(t, dir, name, "new")
			}
			changes, _ := check(t, wire)
			if diff := cmp.Diff([]string{"changed " + test.want}, changes); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGitComesFirst: however many other files change, what git obeys in the
// repository at the root stands first, with what to do.
func TestGitComesFirst(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, ".git/config", "old")
	wire := set(t, dir, tripwire.Options{})
	for i := range 50 {
		put(t, dir, fmt.Sprintf("!%d/.git", i), "gitdir: x")
		put(t, dir, fmt.Sprintf("!%d/.envrc", i), "x")
	}
	for _, name := range []string{".envrc", ".bashrc", ".git/commondir"} {
		put(t, dir, name, "x")
	}
	report, err := wire.Check()
	if err != nil || len(report.Changes) != 103 {
		t.Fatalf("%d changes, %v, want 103", len(report.Changes), err)
	}
	if first := report.Changes[0]; first.Path != ".git/commondir" || !strings.Contains(first.What, "run no git here before") {
		t.Errorf("the first is %+v", first)
	}
}

func TestOriginal(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, ".envrc", "small")
	put(t, dir, ".env", strings.Repeat("large", 100_000))
	wire := set(t, dir, tripwire.Options{})
	put(t, dir, ".envrc", "bad")
	put(t, dir, ".env", "bad")
	report, err := wire.Check()
	if err != nil || len(report.Changes) != 2 {
		t.Fatalf("changes = %v, error %v; want two", report.Changes, err)
	}
	large, small := report.Changes[0], report.Changes[1]
	if large.Path != ".env" || large.Original != nil {
		t.Errorf("%s has %d bytes kept, want none of a large file", large.Path, len(large.Original))
	}
	if small.Path != ".envrc" || string(small.Original) != "small" || small.Was.Perm() != 0o644 {
		t.Errorf("%s was %q with mode %v, want what it held", small.Path, small.Original, small.Was)
	}
}

// TestAttributesCanBePutBack: a program that was written into the user's own
// attributes is no reason to remove them.
func TestAttributesCanBePutBack(t *testing.T) {
	for _, tt := range []struct {
		name, before, after string
		kind                tripwire.Kind
	}{
		{"a program comes", "*.txt text\n", "*.txt text\n*.c filter=x\n", tripwire.Changed},
		{"a program goes", "*.c filter=x\n", "*.txt text\n", tripwire.Changed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, ".gitattributes", tt.before)
			wire := set(t, dir, tripwire.Options{})
			put(t, dir, ".gitattributes", tt.after)
			report, err := wire.Check()
			if err != nil || len(report.Changes) != 1 {
				t.Fatalf("changes = %v, error %v; want one", report.Changes, err)
			}
			if c := report.Changes[0]; c.Kind != tt.kind || string(c.Original) != tt.before {
				t.Errorf("%s, was %q; want %s with what it held", c.Kind, c.Original, tt.kind)
			}
		})
	}
}

// TestBounds fills a folder with names: it is said, and what was there before
// is found changed all the same.
func TestBounds(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "z/z/.envrc", "old")
	wire := set(t, dir, tripwire.Options{Entries: 50})
	for i := range 100 {
		put(t, dir, fmt.Sprintf("filler%d", i), "x")
	}
	put(t, dir, "z/z/.envrc", "new")
	changes, gaps := check(t, wire)
	if diff := cmp.Diff([]string{"changed z/z/.envrc"}, changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if len(gaps) != 1 || !strings.Contains(gaps[0], "after the commands: there are more than 50 names") {
		t.Errorf("gaps = %q, want that it gave up, when and why", gaps)
	}
}

// BenchmarkLook walks a tree of 50,000 files, as before and after each run.
func BenchmarkLook(b *testing.B) {
	dir := b.TempDir()
	for i := range 500 {
		sub := filepath.Join(dir, fmt.Sprintf("d%d", i%20), fmt.Sprintf("e%d", i))
		if err := os.MkdirAll(sub, 0o755); err != nil {
			b.Fatal(err)
		}
		for j := range 100 {
			if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("f%d.go", j)), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		set(b, dir, tripwire.Options{})
	}
}
