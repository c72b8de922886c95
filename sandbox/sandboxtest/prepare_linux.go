package sandboxtest

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"syscall"

	"github.com/belljar/belljar/sandbox"
)

// maxArgument is the longest script that is handed over as an argument. The
// kernel takes 128 KiB, the NUL at the end included.
const maxArgument = 120 << 10

// prepare makes all that a command needs before it starts. The caller
// releases it.
func (h *host) prepare(cmd sandbox.Command, number int) (*command, error) {
	c := &command{
		host: h, cmd: cmd,
		ends:   make(chan ending, 1),
		waited: make(chan error, 1),
	}
	if err := c.prepare(number); err != nil {
		c.release()
		return nil, fmt.Errorf("preparing a command: %w", err)
	}
	return c, nil
}

func (c *command) prepare(number int) error {
	env := c.host.environment(c.cmd)
	args := c.cmd.Args
	if c.cmd.Script != "" {
		var err error
		if args, env, err = c.shell(number, env); err != nil {
			return err
		}
	}
	c.child = &exec.Cmd{
		Path: "/bin/sh",
		// The umask of this process is not that of the owner, and one
		// process has only one. A shell that sets it and makes way also
		// answers 127 and 126 for a program that is not to be had.
		Args: append([]string{"sh", "-c", `umask "$1"; shift; exec "$@"`, "sh", fmt.Sprintf("%04o", c.host.spec.Owner.Umask)}, args...),
		Env:  env,
		Dir:  cmp.Or(c.cmd.Dir, c.host.mount),
		SysProcAttr: &syscall.SysProcAttr{
			Setsid:     true,
			Credential: c.host.credential,
		},
	}
	if err := c.connect(); err != nil {
		return err
	}
	return c.markTree()
}

// environment is what a command sees. Of the host's own only the search path
// and the language are passed.
func (h *host) environment(cmd sandbox.Command) []string {
	env := []string{
		"PATH=" + cmp.Or(os.Getenv("PATH"), "/usr/local/bin:/usr/bin:/bin"),
		"LANG=" + cmp.Or(os.Getenv("LANG"), "C.UTF-8"),
		"HOME=" + filepath.Join(h.private, "home"),
	}
	env = append(env, h.spec.Env...)
	return append(env, cmd.Env...)
}

// shell makes the argv of a script, and what tells where its shell ended.
func (c *command) shell(number int, env []string) (args, newEnv []string, err error) {
	c.private = filepath.Join(c.host.private, strconv.Itoa(number))
	if err := os.Mkdir(c.private, 0o700); err != nil {
		return nil, nil, err
	}
	if err := c.give(c.private); err != nil {
		return nil, nil, err
	}
	if c.probe, err = newProbe(c.private, c.give); err != nil {
		return nil, nil, err
	}
	script := c.cmd.Script
	if filepath.Base(c.host.shell) == "bash" {
		// Read before the script, this leaves no trace in its messages.
		name, err := c.file("env", c.probe.trap()+"\nunset BASH_ENV\n")
		if err != nil {
			return nil, nil, err
		}
		env = append(env, "BASH_ENV="+name)
	} else {
		// On the script's first line, so that line numbers stay.
		script = c.probe.trap() + "; " + script
	}
	if len(script) > maxArgument {
		name, err := c.file("script", script)
		if err != nil {
			return nil, nil, err
		}
		script = ". " + quote(name)
	}
	return []string{c.host.shell, "-c", "--", script}, env, nil
}

// file hands a text to the shell.
func (c *command) file(name, text string) (string, error) {
	name = filepath.Join(c.private, name)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		return "", err
	}
	return name, c.give(name)
}

// give lets the command's user have a file.
func (c *command) give(name string) error {
	if c.host.credential == nil {
		return nil
	}
	return os.Chown(name, c.host.spec.Owner.UID, c.host.spec.Owner.GID)
}

// connect makes the pipes of the three streams.
func (c *command) connect() error {
	if c.cmd.Stdin != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		c.child.Stdin, c.stdin = r, w
		c.theirs = append(c.theirs, r)
	}
	allowed := &allowance{limited: c.cmd.OutputLimit > 0, remaining: c.cmd.OutputLimit}
	stdout, err := c.stream(c.cmd.Stdout, allowed)
	if err != nil {
		return err
	}
	c.child.Stdout, c.child.Stderr = stdout, stdout
	if !same(c.cmd.Stdout, c.cmd.Stderr) {
		stderr, err := c.stream(c.cmd.Stderr, allowed)
		if err != nil {
			return err
		}
		c.child.Stderr = stderr
	}
	return nil
}

// stream makes one pipe to a writer and answers the command's end of it.
func (c *command) stream(w io.Writer, allowed *allowance) (*os.File, error) {
	r, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if w == nil {
		w = io.Discard
	}
	c.theirs = append(c.theirs, theirs)
	c.streams = append(c.streams, &stream{r: r, w: w, take: allowed.take, stop: c.stop, done: make(chan struct{})})
	return theirs, nil
}

// same tells whether two writers are one value. Two that are nil need no
// common order.
func same(a, b io.Writer) bool {
	return a != nil && b != nil && reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// markTree lets every process of the command inherit a file that it is known
// by.
func (c *command) markTree() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	c.theirs = append(c.theirs, r, w)
	info, err := w.Stat()
	if err != nil {
		return err
	}
	stat := info.Sys().(*syscall.Stat_t)
	c.tree.mark = fmt.Sprintf("pipe:[%d]", stat.Ino)
	c.child.ExtraFiles = make([]*os.File, markFD-2)
	c.child.ExtraFiles[markFD-3] = w
	return nil
}
