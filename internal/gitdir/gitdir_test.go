package gitdir_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/belljar/belljar/internal/gitdir"
)

func TestObeyed(t *testing.T) {
	for name, want := range map[string]bool{
		"config":                           true,
		"Config.Worktree":                  true,
		"commondir":                        true,
		"hooks":                            true,
		"HOOKS/pre-push":                   true,
		"info/attributes":                  true,
		"rebase-merge/git-rebase-todo":     true,
		"modules/a/b/config":               true,
		"modules/a/hooks/pre-push":         true,
		"worktrees/w/commondir":            true,
		"worktrees/w/rebase-merge/x":       false,
		"HEAD":                             false,
		"info/exclude":                     false,
		"refs/heads/config":                false,
		"refs/heads/hooks":                 false,
		"objects/info/alternates":          false,
		"modules":                          false,
		"modules/config":                   false,
		"worktrees/w/HEAD":                 false,
		"rebase-merge/git-rebase-todo.bak": false,
	} {
		if got := gitdir.Obeyed(name); got != want {
			t.Errorf("Obeyed(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestTarget(t *testing.T) {
	for content, want := range map[string]string{
		"gitdir: .repo\n":         ".repo",
		"gitdir: ../a b/x\r\n\n":  "../a b/x",
		"gitdir: /absolute":       "/absolute",
		"gitdir:.repo\n":          "",
		"gitdir: \n":              "",
		" gitdir: .repo\n":        "",
		"something else entirely": "",
	} {
		got, ok := gitdir.Target([]byte(content))
		if ok != (want != "") || ok && got != want {
			t.Errorf("Target(%q) = %q, %v; want %q", content, got, ok, want)
		}
	}
}

func TestInside(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	back := filepath.Join(t.TempDir(), "back")
	if err := os.Symlink(dir, back); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		from, name, want string
		ok               bool
	}{
		{".", ".repo", ".repo", true},
		{"sub", "../.repo", ".repo", true},
		{"sub", "../../elsewhere", "", false},
		{".git", "..", ".", true},
		{".", filepath.Join(dir, "sub/.repo"), "sub/.repo", true},
		{".", filepath.Join(back, "missing/.repo"), "missing/.repo", true},
		{".", filepath.Dir(dir), "", false},
	} {
		if got, ok := gitdir.Inside(dir, tt.from, tt.name); ok != tt.ok || ok && got != tt.want {
			t.Errorf("Inside(%q, %q) = %q, %v; want %q, %v", tt.from, tt.name, got, ok, tt.want, tt.ok)
		}
	}
}
