package tripwire_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/tripwire"
)

// TestFirst fills the root with more names than a look may see, and plants what
// git obeys: it is named all the same, wherever a repository is known.
func TestFirst(t *testing.T) {
	for _, tt := range []struct {
		name string
		have []string // besides .git/HEAD
		do   func(t *testing.T, dir string)
		want []string
	}{
		{"nothing", nil, func(*testing.T, string) {}, nil},
		{"leading elsewhere", nil, func(t *testing.T, dir string) {
			put(t, dir, ".git/commondir", "../x")
			put(t, dir, ".git/config.worktree", "x")
			put(t, dir, ".git/hooks/post-checkout", "x")
			put(t, dir, ".git/info/attributes", "* filter=x")
			put(t, dir, ".git/rebase-merge/git-rebase-todo", "exec x")
		}, []string{"added .git/commondir", "added .git/config.worktree", "added .git/hooks/post-checkout", "added .git/info/attributes",
			"added .git/rebase-merge/git-rebase-todo"}},
		{"a nested repository", []string{"a/b/.git/HEAD"}, func(t *testing.T, dir string) {
			put(t, dir, "a/b/.git/commondir", "../x")
		}, []string{"added a/b/.git/commondir"}},
		{"another kind of repository", []string{"bare/HEAD", "bare/objects/x", "bare/refs/x"}, func(t *testing.T, dir string) {
			put(t, dir, "bare/hooks/update", "x")
		}, []string{"added bare/hooks/update"}},
		{"a worktree's", []string{".git/worktrees/w/HEAD", ".git/worktrees/w/commondir"}, func(t *testing.T, dir string) {
			put(t, dir, ".git/worktrees/w/commondir", "../../../x")
		}, []string{"changed .git/worktrees/w/commondir"}},
		{"the root in the place of its repository", nil, func(t *testing.T, dir string) {
			remove(t, dir, ".git/HEAD")
			for _, name := range []string{"HEAD", "objects/x", "refs/x", "config"} {
				put(t, dir, name, "x")
			}
		}, []string{"obeyed config"}},
		{"a file that leads on", []string{"sub/.git=gitdir: ../repo/inner", "repo/inner/HEAD"}, func(t *testing.T, dir string) {
			put(t, dir, "repo/inner/config", "x")
		}, []string{"added repo/inner/config"}},
		{"a link that leads on", []string{"repo/inner/HEAD", "sub/.git->../repo/inner"}, func(t *testing.T, dir string) {
			put(t, dir, "repo/inner/commondir", "../x")
		}, []string{"added sub/.git/commondir"}},
		{"a folder that leads on", []string{"sub/.git/commondir=../../repo/inner\n", "sub/.git/HEAD", "repo/inner/HEAD"}, func(t *testing.T, dir string) {
			put(t, dir, "repo/inner/hooks/pre-push", "x")
		}, []string{"added repo/inner/hooks/pre-push"}},
		{"hooks that the configuration names", []string{".git/config=[core]\n\thooksPath = ours\n"}, func(t *testing.T, dir string) {
			put(t, dir, "ours/pre-commit", "x")
		}, []string{"added ours/pre-commit"}},
		{"start-up files at the root", []string{".envrc"}, func(t *testing.T, dir string) {
			remove(t, dir, ".envrc")
			put(t, dir, ".bashrc", "x")
		}, []string{"added .bashrc", "removed .envrc"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
			for _, have := range tt.have {
				if name, target, isLink := strings.Cut(have, "->"); isLink {
					put(t, dir, path.Join(path.Dir(name), "file"), "")
					symlink(t, dir, target, name)
					continue
				}
				name, content, _ := strings.Cut(have, "=")
				put(t, dir, name, content)
			}
			wire := set(t, dir, tripwire.Options{})
			tt.do(t, dir)
			for _, opts := range []tripwire.Options{{Entries: 10}, {Time: time.Nanosecond}} {
				for i := range 20 {
					put(t, dir, fmt.Sprintf("!%d", i), "x")
				}
				wire.Bound(opts)
				changes, gaps := check(t, wire)
				slices.Sort(changes)
				if diff := cmp.Diff(tt.want, changes); diff != "" {
					t.Errorf("changes (-want +got):\n%s", diff)
				}
				if len(gaps) != 1 {
					t.Errorf("gaps = %q, want that it gave up", gaps)
				}
			}
		})
	}
}

// TestFirstOfBoth: what stands under a fixed name is compared even where neither
// look got any further.
func TestFirstOfBoth(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
	put(t, dir, ".git/config.worktree", "old")
	wire := set(t, dir, tripwire.Options{Time: time.Nanosecond})
	put(t, dir, ".git/commondir", "../x")
	remove(t, dir, ".git/config.worktree")
	changes, _ := check(t, wire)
	if diff := cmp.Diff([]string{"added .git/commondir", "removed .git/config.worktree"}, changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// TestRepository: a change is told with the nearest repository that was there.
func TestRepository(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
	put(t, dir, "nest/.git/HEAD", "ref: refs/heads/main\n")
	put(t, dir, "tree/.git", "gitdir: /elsewhere\n")
	wire := set(t, dir, tripwire.Options{})
	want := map[string]string{".envrc": ".", "nest/a/.envrc": "nest", "tree/.envrc": "tree", "new/.envrc": ".", "new/.git/config": "."}
	for name := range want {
		put(t, dir, name, "x")
	}
	report, err := wire.Check()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, change := range report.Changes {
		got[change.Path] = change.Repository
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("repositories (-want +got):\n%s", diff)
	}
}

// TestNoRepository: where there was none, none is told.
func TestNoRepository(t *testing.T) {
	dir := t.TempDir()
	wire := set(t, dir, tripwire.Options{})
	put(t, dir, "sub/.envrc", "x")
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	report, err := wire.Check()
	if err != nil || len(report.Changes) != 1 || report.Changes[0].Repository != "" {
		t.Errorf("changes = %+v, %v; want one without a repository", report.Changes, err)
	}
}
