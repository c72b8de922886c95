//go:build linux

package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The numbers of a user that no machine knows by name.
const otherUser = 1001

// as makes a command run as another user of the engine's group, who keeps new
// files private.
func (p *program) as(t *testing.T, cmd *exec.Cmd, home string) *exec.Cmd {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	info, err := os.Stat(p.socket)
	if p.socket == "" || err != nil {
		t.Skipf("the engine's socket %q has no group to be in (%v)", p.socket, err)
	}
	// A umask is one of the whole process, so a shell sets it.
	args := append([]string{"sh", "-c", `umask 077; exec "$@"`, "sh"}, append([]string{cmd.Path}, cmd.Args[1:]...)...)
	cmd.Path, cmd.Args = "/bin/sh", args
	cmd.Env = append(cmd.Env, "HOME="+home, "BELLJAR_STATE_DIR=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{
		Uid: otherUser, Gid: otherUser, Groups: []uint32{info.Sys().(*syscall.Stat_t).Gid},
	}}
	return cmd
}

// newHome makes a home of the other user with a folder to work in.
func newHome(t *testing.T) (home, workspace string) {
	t.Helper()
	home = filepath.Join(sharedDir(t), "home")
	workspace = filepath.Join(home, "work")
	for _, dir := range []string{home, workspace} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, otherUser, otherUser); err != nil {
			t.Fatal(err)
		}
	}
	return home, workspace
}

// testAnotherUser has files belong to a user who is not root, and be of no more
// use to others than the user's umask allows.
func testAnotherUser(t *testing.T, p *program) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	private := copyProgram(t, p)
	for _, test := range []struct {
		name string
		path string
	}{
		{"a program for all", p.path},
		{"a program for its owner alone", private},
	} {
		t.Run(test.name, func(t *testing.T) {
			home, workspace := newHome(t)
			belljar := &program{path: test.path, home: home, socket: p.socket, seen: p.seen}
			exec := func(script string) ran {
				t.Helper()
				got := run(t, belljar.as(t, belljar.command(t, workspace, "exec", "-c", script), home))
				if got.code != 0 {
					t.Fatalf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
				}
				return got
			}
			if got := exec("umask; id -u; id -g; touch new && mkdir d && touch d/inner"); got.stdout != fmt.Sprintf("0077\n%d\n%[1]d\n", otherUser) || got.stderr != "" {
				t.Errorf("inside: %q, stderr %q", got.stdout, got.stderr)
			}
			for name, mode := range map[string]fs.FileMode{"new": 0o600, "d": fs.ModeDir | 0o700, "d/inner": 0o600} {
				checkFile(t, filepath.Join(workspace, name), mode)
			}
			got := exec(`set -e; git init -q .; echo x >tracked; git add tracked new
				git -c user.name=Test -c user.email=test@example.org commit -q -m first; git status --porcelain; git log --format=%s`)
			if got.stdout != "?? d/\nfirst\n" {
				t.Errorf("git: %q", got.stdout)
			}
			// A file that the user made outside can be changed inside.
			outside := belljar.as(t, belljar.command(t, workspace), home)
			outside.Args = append(outside.Args[:4], "sh", "-c", "echo one >shared")
			if got := run(t, outside); got.code != 0 {
				t.Fatalf("writing outside: %s", got.stderr)
			}
			exec("echo two >>shared")
			if text, err := os.ReadFile(filepath.Join(workspace, "shared")); err != nil || string(text) != "one\ntwo\n" {
				t.Errorf("shared = %q, error %v", text, err)
			}
			// And all that was made inside can be removed outside.
			removal := belljar.as(t, belljar.command(t, workspace), home)
			removal.Args = append(removal.Args[:4], "rm", "-r", "new", "d", "tracked", "shared", ".git")
			if got := run(t, removal); got.code != 0 {
				t.Errorf("rm -r outside: %s", got.stderr)
			}
			if left, err := os.ReadDir(workspace); err != nil || len(left) != 0 {
				t.Errorf("left in the workspace: %v, error %v", left, err)
			}
			checkHome(t, home)
		})
	}
}

// copyProgram gives the other user a belljar that nobody else may read, as one
// that was built under that umask is.
func copyProgram(t *testing.T, p *program) string {
	t.Helper()
	data, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(sharedDir(t), "belljar")
	if err := os.WriteFile(path, data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, otherUser, otherUser); err != nil {
		t.Fatal(err)
	}
	return path
}

func checkFile(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Error(err)
		return
	}
	if info.Mode() != mode {
		t.Errorf("%s has mode %v, want %v", path, info.Mode(), mode)
	}
	if stat := info.Sys().(*syscall.Stat_t); stat.Uid != otherUser || stat.Gid != otherUser {
		t.Errorf("%s belongs to %d:%d, want %d:%[4]d", path, stat.Uid, stat.Gid, otherUser)
	}
}

// checkHome looks at what belljar itself made in the user's home.
func checkHome(t *testing.T, home string) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if stat := info.Sys().(*syscall.Stat_t); stat.Uid != otherUser {
			t.Errorf("%s belongs to %d", path, stat.Uid)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// testWorkspaceRefused names folders that cannot be worked on. No command runs
// and no container stays.
func testWorkspaceRefused(t *testing.T, p *program) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	closed := t.TempDir() // below a folder that only root may enter
	private := filepath.Join(sharedDir(t), "private")
	if err := os.Mkdir(private, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, workspace, words string
		other                  bool // run by the other user
	}{
		{"missing", filepath.Join(t.TempDir(), "missing"), "does not exist", false},
		{"a file", file, "not a folder", false},
		{"the root", "/", "refused", false},
		{"the home", p.home, "refused", false},
		{"out of reach", closed, "permission denied", true},
		{"another user's", private, private, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := p.command(t, "/", "exec", "-w", test.workspace, "-c", "echo it ran")
			if test.other {
				home, _ := newHome(t)
				cmd = p.as(t, cmd, home)
			}
			got := run(t, cmd)
			if got.code != exitFailure || got.stdout != "" {
				t.Errorf("exit code %d, stdout %q, want %d and nothing", got.code, got.stdout, exitFailure)
			}
			if !strings.Contains(got.stderr, test.words) {
				t.Errorf("stderr = %q, want %q in it", got.stderr, test.words)
			}
			if list := p.containersOf(t, cmd.Process.Pid); len(list) != 0 {
				t.Errorf("%d containers are left", len(list))
			}
		})
	}
}
