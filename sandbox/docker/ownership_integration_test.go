//go:build linux

package docker_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/belljar/belljar/sandbox"
)

// gitWork makes a repository and commits to it, as a person would.
const gitWork = `set -e
git init -q .
git config user.name Test
git config user.email test@example.org
echo text >tracked
git add tracked
git commit -q -m first
test -z "$(git status --porcelain --untracked-files=no)"
git log --format=%s
`

// TestOwnership looks at the files that commands make, from outside.
func TestOwnership(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make a workspace that belongs to another user")
	}
	engine := connect(t)
	for _, test := range []struct {
		name     string
		uid, gid int
		umask    int
		groups   []int
		file     fs.FileMode
		dir      fs.FileMode
	}{
		{"root's own", 0, 0, 0o022, nil, 0o644, 0o755},
		{"another user's", 1001, 1001, 0o022, nil, 0o644, 0o755},
		{"a user who keeps files private", 1001, 1001, 0o077, []int{1002, 105}, 0o600, 0o700},
		{"a user whose group may write", 1001, 1002, 0o002, nil, 0o664, 0o775},
		{"the user that nobody should be", 65534, 65534, 0o022, nil, 0o644, 0o755},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := newSpec(t, test.uid, test.gid)
			spec.Owner.Umask, spec.Owner.Groups = test.umask, test.groups
			sb := start(t, engine, spec)
			script(t, sb, "touch new && mkdir d && echo x >d/inner && ln -s new link && cp /bin/true program")
			got := execute(t, sb, sandbox.Command{Args: []string{"touch", "by-argv"}})
			if got.err != nil || got.result.ExitCode == nil || *got.result.ExitCode != 0 {
				t.Fatalf("touch: %s, error %v", describe(got.result), got.err)
			}
			wantMode(t, filepath.Join(spec.Workspace, "new"), test.file)
			wantMode(t, filepath.Join(spec.Workspace, "by-argv"), test.file)
			wantMode(t, filepath.Join(spec.Workspace, "d"), test.dir)
			if got := script(t, sb, gitWork); got != "first\n" {
				t.Errorf("git: %q", got)
			}
			want := fmt.Sprintln(test.uid) + fmt.Sprintln(test.gid)
			if got := script(t, sb, "id -u; id -g; touch ~/file /tmp/file /dev/shm/file; whoami >/dev/null"); got != want {
				t.Errorf("user and group inside = %q, want %q", got, want)
			}
			for _, group := range test.groups {
				if got := " " + strings.TrimSpace(script(t, sb, "id -G")) + " "; !strings.Contains(got, fmt.Sprintf(" %d ", group)) {
					t.Errorf("groups inside = %q, want %d among them", got, group)
				}
			}
			wantOwner(t, spec.Workspace, test.uid, test.gid)
		})
	}
}

func wantMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Error(err)
		return
	}
	if got := info.Mode().Perm(); got != want {
		t.Errorf("%s has mode %o, want %o", filepath.Base(path), got, want)
	}
}

// wantOwner checks whom everything in a folder belongs to.
func wantOwner(t *testing.T, dir string, uid, gid int) {
	t.Helper()
	count := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		count++
		if stat := info.Sys().(*syscall.Stat_t); int(stat.Uid) != uid || int(stat.Gid) != gid {
			t.Errorf("%s belongs to %d:%d, want %d:%d", path, stat.Uid, stat.Gid, uid, gid)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if count < 10 { // the folder, six files and the repository's
		t.Errorf("only %d files were looked at", count)
	}
}
