package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belljar/belljar/sandbox"
)

// An ending says why the sandbox ended a command: by a status, or because
// something broke.
type ending struct {
	status sandbox.Status
	err    error
}

// Exec runs one command as a host process.
func (h *host) Exec(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) {
	if err := cmd.Check(); err != nil {
		return sandbox.Result{}, err
	}
	number, err := h.enter()
	if err != nil {
		return sandbox.Result{}, err
	}
	defer h.running.Done()
	if ctx.Err() != nil {
		return sandbox.Result{Status: sandbox.Canceled, Dir: cmd.Dir}, nil
	}
	c, err := h.prepare(cmd, number)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer c.release()
	begin := time.Now()
	if err := c.start(); err != nil {
		return sandbox.Result{}, err
	}
	result, err := c.await(ctx)
	result.Duration = time.Since(begin)
	return result, err
}

// A command is one command while it runs.
type command struct {
	host    *host
	cmd     sandbox.Command
	child   *exec.Cmd
	tree    tree
	probe   *probe // nil without a script
	private string // holds the probe's pipes and the script; "" without
	dirLost bool

	stdin   *os.File // our end; nil when the command has none
	streams []*stream
	theirs  []*os.File  // what only the child needs
	ends    chan ending // one slot: the first reason to end the command counts
	waited  chan error  // one slot: the answer of wait(2)
}

// stop asks for the end of the command.
func (c *command) stop(e ending) {
	select {
	case c.ends <- e:
	default:
	}
}

// start starts the first process and what serves its streams.
func (c *command) start() error {
	var err error
	if c.tree.since, err = now(); err != nil {
		return err
	}
	if err := c.startChild(); err != nil {
		return err
	}
	for _, f := range c.theirs {
		f.Close()
	}
	c.theirs = nil
	c.tree.leader = c.child.Process.Pid
	go func() { c.waited <- c.child.Wait() }()
	for _, s := range c.streams {
		go s.copy()
	}
	if c.probe != nil {
		go c.probe.watch(c.child.Process.Pid)
	}
	if c.stdin != nil {
		go c.feed(c.stdin)
	}
	return nil
}

// startChild starts the first process in the folder asked for, or at the
// mount point when that cannot be entered.
func (c *command) startChild() error {
	err := c.child.Start()
	if err != nil && c.child.Dir != c.host.mount && cannotEnter(err) {
		c.dirLost = true
		c.child = &exec.Cmd{
			Path: c.child.Path, Args: c.child.Args, Env: c.child.Env, Dir: c.host.mount,
			Stdin: c.child.Stdin, Stdout: c.child.Stdout, Stderr: c.child.Stderr,
			ExtraFiles: c.child.ExtraFiles, SysProcAttr: c.child.SysProcAttr,
		}
		err = c.child.Start()
	}
	switch {
	case errors.Is(err, syscall.E2BIG):
		return fmt.Errorf("%w: its arguments and environment are more than the system takes; put them into a file", sandbox.ErrInvalidCommand)
	case err != nil:
		return fmt.Errorf("starting a command in %s: %w", c.child.Dir, err)
	}
	return nil
}

// cannotEnter tells a folder that cannot be entered from a start that failed
// otherwise: the program itself is always /bin/sh.
func cannotEnter(err error) bool {
	for _, errno := range []syscall.Errno{syscall.ENOENT, syscall.ENOTDIR, syscall.EACCES, syscall.ELOOP, syscall.ENAMETOOLONG} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// feed carries Stdin to the command. It ends when either side does; a read
// that blocks is left behind.
func (c *command) feed(pipe *os.File) {
	defer pipe.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := c.cmd.Stdin.Read(buf)
		if n > 0 {
			if _, err := pipe.Write(buf[:n]); err != nil {
				return // the command reads no more
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				c.stop(ending{err: fmt.Errorf("reading a command's input: %w", err)})
			}
			return
		}
	}
}

// await waits for the command's end, or ends it, and tells how it ended.
func (c *command) await(ctx context.Context) (sandbox.Result, error) {
	var timeout <-chan time.Time
	if c.cmd.Timeout > 0 {
		timer := time.NewTimer(c.cmd.Timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	var e ending
	var waitErr error
	select {
	case waitErr = <-c.waited:
		return c.ended(waitErr)
	case <-ctx.Done():
		e.status = sandbox.Canceled
	case <-timeout:
		e.status = sandbox.TimedOut
	case e = <-c.ends:
	case <-c.host.closing:
		e.err = fmt.Errorf("running a command: %w", sandbox.ErrClosed)
	}
	result := sandbox.Result{Status: e.status, Dir: folderOf(c.child.Process.Pid)}
	return c.end(result, e.err, true)
}

// ended tells how a command ended that ended by itself.
func (c *command) ended(waitErr error) (sandbox.Result, error) {
	var exit *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exit) {
		return c.end(sandbox.Result{}, fmt.Errorf("waiting for a command: %w", waitErr), false)
	}
	result := sandbox.Result{Status: sandbox.Exited}
	status := c.child.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		result.Status, result.Signal = sandbox.Signaled, signalName(status.Signal())
	} else {
		code := status.ExitStatus()
		result.ExitCode = &code
	}
	if err := c.finishStreams(); err != nil {
		return c.end(sandbox.Result{}, err, false)
	}
	select {
	case e := <-c.ends: // the last bytes were too many, or nobody took them
		return c.end(sandbox.Result{Status: e.status}, e.err, false)
	default:
	}
	found, err := c.tree.look()
	if err != nil {
		return c.end(sandbox.Result{}, err, false)
	}
	result.Left, result.LeftCount = report(found)
	if len(found) > 0 {
		c.leave()
	}
	c.place(&result)
	return result, nil
}

// leave hands processes that outlive the command to the sandbox.
func (c *command) leave() {
	t := c.tree
	t.leader = 0 // has been waited for: the number may come to mean another
	var pipes []*os.File
	for _, s := range c.streams {
		pipes = append(pipes, s.r)
	}
	c.streams = nil
	c.host.keep(&t, pipes...)
}

// end kills what there is of the command.
func (c *command) end(result sandbox.Result, cause error, wait bool) (sandbox.Result, error) {
	killed, err := c.tree.kill()
	if err != nil {
		return sandbox.Result{}, errors.Join(cause, err)
	}
	if wait {
		<-c.waited
	}
	err = c.finishStreams()
	if cause != nil {
		return sandbox.Result{}, cause
	}
	if err != nil {
		return sandbox.Result{}, err
	}
	select {
	case e := <-c.ends:
		if e.err != nil { // no output limit counts after the reason to end
			return sandbox.Result{}, e.err
		}
	default:
	}
	result.Killed, result.KilledCount = report(killed)
	c.place(&result)
	return result, nil
}

// finishStreams delivers the rest of the output.
func (c *command) finishStreams() error {
	var errs []error
	for _, s := range c.streams {
		errs = append(errs, s.finish())
	}
	return errors.Join(errs...)
}

// place fills in the folders of a result.
func (c *command) place(result *sandbox.Result) {
	result.DirLost = c.dirLost
	if c.probe != nil {
		if dir := c.probe.finish(); dir != "" {
			result.Dir = dir
		}
		c.probe = nil
	}
	if result.Dir == "" {
		result.Dir = c.child.Dir
	}
}

// release lets go of everything but what was handed to the sandbox.
func (c *command) release() {
	for _, f := range c.theirs {
		f.Close()
	}
	for _, s := range c.streams {
		s.r.Close()
	}
	if c.stdin != nil {
		c.stdin.Close()
	}
	if c.probe != nil {
		if c.child.Process != nil {
			c.probe.finish()
		} else {
			c.probe.close()
		}
	}
	if c.private != "" {
		// The folder is in the sandbox's own, which Close removes.
		_ = os.RemoveAll(c.private)
	}
}

// signalName names a signal as Result.Signal does.
func signalName(signal syscall.Signal) string {
	if name := unix.SignalName(signal); name != "" {
		return name
	}
	return "SIG" + strconv.Itoa(int(signal))
}
