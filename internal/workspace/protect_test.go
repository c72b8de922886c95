package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// me is the owner that tests give files to.
func me() sandbox.Owner { return sandbox.Owner{UID: os.Getuid(), GID: os.Getgid(), Umask: 0o027} }

func TestGitProtection(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files []string // a name that ends in a slash is a folder
		want  sandbox.Protection
		notes int
	}{
		{"no repository", []string{"file"}, sandbox.Protection{}, 0},
		{"a repository", []string{".git/config", ".git/hooks/", ".git/HEAD"},
			sandbox.Protection{Fixed: []string{".git"}, ReadOnly: []string{".git/config", ".git/hooks"}}, 0},
		{"no hooks", []string{".git/config"},
			sandbox.Protection{Fixed: []string{".git"}, ReadOnly: []string{".git/config", ".git/hooks"}}, 0},
		{"an empty repository", []string{".git/"},
			sandbox.Protection{Fixed: []string{".git"}, ReadOnly: []string{".git/hooks"}}, 0},
		{"all there is", []string{".git/config", ".git/config.worktree", ".git/commondir:.", ".git/hooks/pre-commit"},
			sandbox.Protection{Fixed: []string{".git"}, ReadOnly: []string{
				".git/config", ".git/config.worktree", ".git/commondir", ".git/hooks"}}, 0},
		{"a repository elsewhere", []string{".git:gitdir: ../x\n"}, sandbox.Protection{ReadOnly: []string{".git"}}, 0},
		{"no repository at all", []string{".git"}, sandbox.Protection{ReadOnly: []string{".git"}}, 0},
		{"a repository of another name", []string{".git:gitdir: .repo\n", ".repo/config"},
			sandbox.Protection{Fixed: []string{".repo"}, ReadOnly: []string{".git", ".repo/config", ".repo/hooks"}}, 0},
		{"a repository further down", []string{".git:gitdir: ./a/b/.repo", "a/b/.repo/config"},
			sandbox.Protection{Fixed: []string{"a", "a/b", "a/b/.repo"}, ReadOnly: []string{".git", "a/b/.repo/config", "a/b/.repo/hooks"}}, 0},
		{"the root as a repository", []string{".git:gitdir: .\n", "config", "commondir:.\n"},
			sandbox.Protection{ReadOnly: []string{".git", "config", "commondir"}}, 0},
		{"a worktree", []string{".git:gitdir: .bare/worktrees/w\n", ".bare/worktrees/w/commondir:../..\n", ".bare/config"},
			sandbox.Protection{Fixed: []string{".bare", ".bare/worktrees", ".bare/worktrees/w"},
				ReadOnly: []string{".git", ".bare/worktrees/w/commondir", ".bare/config", ".bare/hooks"}}, 0},
		{"a repository that leads on", []string{".git/commondir:../x", "x/config"},
			sandbox.Protection{Fixed: []string{".git", "x"}, ReadOnly: []string{".git/commondir", "x/config", "x/hooks"}}, 0},
		{"a repository that is not there", []string{".git:gitdir: .repo\n"}, sandbox.Protection{ReadOnly: []string{".git"}}, 1},
		{"a nested one", []string{"sub/.git/config"}, sandbox.Protection{}, 0},
		{"second names", []string{".git/config", ".git/hooks/pre-push", "other=.git/config", "more=.git/hooks/pre-push"},
			sandbox.Protection{Fixed: []string{".git"}, ReadOnly: []string{".git/config", ".git/hooks"}}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			lay(t, dir, tt.files...)
			got, notes, err := workspace.GitProtection(dir, me())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("protection (-want +got):\n%s", diff)
			}
			if len(notes) != tt.notes {
				t.Errorf("notes = %q, want %d", notes, tt.notes)
			}
			for _, name := range got.ReadOnly {
				if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
					t.Errorf("what is protected is not there: %v", err)
				}
			}
		})
	}
}

// lay makes files: NAME, with a content as NAME:CONTENT, a folder as NAME/, a
// hard link as NEW=OLD, a link as NEW->TARGET.
func lay(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		linkName, target, isLink := strings.Cut(name, "->")
		second, old, isSecond := strings.Cut(name, "=")
		filled, content, isFilled := strings.Cut(name, ":")
		switch {
		case isFilled:
			put(t, filepath.Join(dir, filled), content)
		case isLink:
			link(t, target, filepath.Join(dir, linkName))
		case isSecond:
			if err := os.Link(filepath.Join(dir, old), filepath.Join(dir, second)); err != nil {
				t.Fatal(err)
			}
		case strings.HasSuffix(name, "/"):
			if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
		default:
			put(t, filepath.Join(dir, name), "content of "+name)
		}
	}
}

// TestGitProtectionRefuses plants what no repository has. None of it may be
// followed, and what it leads to stays untouched.
func TestGitProtectionRefuses(t *testing.T) {
	outside := t.TempDir()
	for _, tt := range []struct{ name, plant, want string }{
		{"a link to the root", ".git->/", ".git in the workspace is a link"},
		{"a link to a folder", ".git->" + outside, ".git in the workspace is a link"},
		{"a link inside", ".git->real", ".git in the workspace is a link"},
		{"a link to nothing", ".git->gone", ".git in the workspace is a link"},
		{"hooks as a link", ".git/hooks->" + outside, ".git/hooks in the workspace is a link"},
		{"hooks as a file", ".git/hooks", ".git/hooks in the workspace is a regular file, not a folder"},
		{"configuration as a link", ".git/config->/etc/passwd", ".git/config in the workspace is a link"},
		{"configuration as a folder", ".git/config/", ".git/config in the workspace is a folder"},
		{"a repository behind a link", ".git:gitdir: link/.repo", `.git in the workspace leads git to "link/.repo" by way of a link`},
		{"a repository that is a link", ".git:gitdir: link", `.git in the workspace leads git to "link" by way of a link`},
		{"a repository behind a link and back", ".git:gitdir: inner/../real", `by way of a link`},
		{"a repository that is a file", ".git:gitdir: file", `file in the workspace is a regular file, not a folder`},
		{"another's configuration as a link", ".git/config.worktree->../x", ".git/config.worktree in the workspace is a link"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if strings.HasPrefix(tt.plant, ".git/") {
				lay(t, dir, ".git/")
			}
			lay(t, dir, "real/", "file", "link->"+outside, "inner->real", tt.plant)
			_, _, err := workspace.GitProtection(dir, me())
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "--protect=false") {
				t.Errorf("error = %v, want %q and what to do", err, tt.want)
			}
			for _, place := range []string{outside, filepath.Join(dir, "real")} {
				if entries, err := os.ReadDir(place); err != nil || len(entries) != 0 {
					t.Errorf("%s holds %v, error %v; want nothing made there", place, entries, err)
				}
			}
		})
	}
}

// A refusal says of a path that is protected that it is, and that it leads there
// only where it does.
func TestProtectSaysHow(t *testing.T) {
	const hooks, config = `lies in ".git/hooks", which is protected`, `leads to ".git/config", which is protected`
	w, dir := open(t)
	lay(t, dir, ".git/config", ".git/hooks/", "file",
		"link->.git/config", "folder->.git", "absolute->/workspace/.git/hooks", "second=.git/config")
	w.Protect(sandbox.Protection{Fixed: []string{".git"}, ReadOnly: []string{".git/config", ".git/hooks"}})
	for path, want := range map[string]string{
		".git/config":                         "is protected",
		".GIT/Config":                         "is protected",
		"./.git//config":                      "is protected",
		".git/../.git/config":                 "is protected",
		"/workspace/.git/config":              "is protected",
		"/workspace/../workspace/.git/config": "is protected",
		".git/commondir":                      "is protected",
		".git/info/attributes":                "is protected",
		".git/worktrees/w/commondir":          "is protected",
		".git/modules/a/b/hooks/pre-push":     `lies in ".git/modules/a/b/hooks", which is protected`,
		"folder/modules/m/config":             `leads to ".git/modules/m/config", which is protected`,
		"/workspace/.git/hooks":               "is protected",
		".git/hooks/pre-commit":               hooks,
		"/workspace/.git/hooks/pre-commit":    hooks,
		".git/hooks/sub/folder/file":          hooks,
		"link":                                config,
		"/workspace/link":                     config,
		"second":                              config,
		"folder/config":                       config,
		"folder/hooks/x":                      `leads to ".git/hooks", which is protected`,
		"absolute/x":                          `leads to ".git/hooks", which is protected`,
	} {
		t.Run(path, func(t *testing.T) {
			_, err := writeFile(w, path, []byte("bad"))
			if err == nil || !strings.Contains(err.Error(), strconv.Quote(path)+": "+want) {
				t.Errorf("WriteFile: %v, want %q", err, want)
			}
		})
	}
}

func TestProtect(t *testing.T) {
	w, dir := open(t)
	lay(t, dir, ".git/config", ".git/hooks/", ".git/HEAD", "file",
		"link->.git/config", "folder->.git", "absolute->/workspace/.git/hooks", "second=.git/config")
	w.Protect(sandbox.Protection{Fixed: []string{".git"}, ReadOnly: []string{".git/config", ".git/hooks"}})
	for _, name := range []string{
		".git/config", "/workspace/.git/config", "./.git/../.git//config", "link", "folder/config", "second",
		".git/hooks/pre-commit", ".git/hooks/sub/folder/file", "folder/hooks/x", "absolute/x", ".git/hooks",
		".git/commondir", ".git/config.worktree", ".GIT/CONFIG", ".Git/hooks/x", "folder/commondir", ".git/info/attributes",
		".git/rebase-merge/git-rebase-todo", ".git/modules/m/config", ".git/worktrees/w/config.worktree", ".git/worktrees/w/commondir",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := writeFile(w, name, []byte("bad"))
			if !errors.Is(err, workspace.ErrProtected) || !strings.Contains(err.Error(), "git on the host runs") {
				t.Errorf("WriteFile: %v, want ErrProtected", err)
			}
			if named := strconv.Quote(path.Clean(name)); strings.Count(err.Error(), named) > 1 {
				t.Errorf("WriteFile: %v, which names the file twice", err)
			}
			_, err = updateFile(w, name, 1000, func([]byte) ([]byte, error) { return []byte("bad"), nil })
			if !errors.Is(err, workspace.ErrProtected) && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("UpdateFile: %v, want ErrProtected", err)
			}
		})
	}
	if got := read(t, filepath.Join(dir, ".git/config")); got != "content of .git/config" {
		t.Errorf(".git/config holds %q, want it kept", got)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, ".git/hooks")); err != nil || len(entries) != 0 {
		t.Errorf("hooks hold %v, error %v; want nothing", entries, err)
	}
	for _, name := range []string{"file", ".git/HEAD", ".git/new", "folder/info/exclude", ".gitignore", "sub/.git/config", ".git/modules/m/HEAD", "config"} {
		if _, err := writeFile(w, name, []byte("good")); err != nil {
			t.Errorf("WriteFile(%q): %v, want it written", name, err)
		}
	}
	if f, err := w.Open("link"); err != nil {
		t.Errorf("reading what is protected: %v", err)
	} else {
		f.Close()
	}
}

// TestProtectLed: the repository that a file .git leads to is one as well, under
// whatever name, and only what git obeys of it.
func TestProtectLed(t *testing.T) {
	w, dir := open(t)
	lay(t, dir, ".git:gitdir: a/.repo\n", "a/.repo/config", "a/config")
	p, _, err := workspace.GitProtection(dir, me())
	if err != nil {
		t.Fatal(err)
	}
	w.Protect(p)
	for _, name := range []string{".git", "a/.repo/config", "a/.repo/hooks/x", "a/.repo/commondir", "A/.Repo/config.worktree", "a/.repo/modules/m/config"} {
		if _, err := writeFile(w, name, []byte("bad")); !errors.Is(err, workspace.ErrProtected) {
			t.Errorf("WriteFile(%q): %v, want ErrProtected", name, err)
		}
	}
	for _, name := range []string{"a/config", "a/hooks/x", "commondir", "a/.repo/HEAD"} {
		if _, err := writeFile(w, name, []byte("good")); err != nil {
			t.Errorf("WriteFile(%q): %v, want it written", name, err)
		}
	}
}
