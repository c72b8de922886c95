package escape

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// finder is a user who comes by a planted program, and has no other rights.
const finder = 54321

// planted makes a program of root's that runs as root whoever starts it, in each
// of the folders, and runs it as somebody else. It returns nil when that made
// one of them root.
func planted(dirs ...string) error {
	program, err := exec.LookPath("id")
	if err != nil {
		return fmt.Errorf("%w: no program is here to plant", errHeld)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	last := error(unix.ENOENT)
	for _, dir := range dirs {
		if last = plantedIn(dir, content); last == nil {
			return nil
		}
	}
	return last
}

func plantedIn(dir string, content []byte) error {
	dir, err := os.MkdirTemp(dir, "belljar-planted-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path, err := filepath.Abs(filepath.Join(dir, "id"))
	if err != nil {
		return err
	}
	// In this order, since a new owner takes the bit away.
	for _, step := range []error{
		os.WriteFile(path, content, 0o755), os.Chmod(dir, 0o755), os.Chown(path, 0, 0), os.Chmod(path, 0o755|os.ModeSetuid),
	} {
		if step != nil {
			return step
		}
	}
	cmd := exec.Command(path, "-u")
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: finder, Gid: finder}}
	}
	out, err := cmd.Output()
	switch user := strings.TrimSpace(string(out)); {
	case err != nil:
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return fmt.Errorf("%w: it did not run: %w", errHeld, err)
		}
		return err
	case user == "0":
		return nil
	default:
		return fmt.Errorf("%w: it ran as user %s", errHeld, user)
	}
}
