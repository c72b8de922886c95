package supervisor

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The text that a shell is started ahead with. It reads a length and that many
// bytes from descriptor 3, takes the command's streams from 4 and 5 and
// evaluates what it read; && makes sure that no half of a script runs.
// Evaluated text gives the codes and line numbers of bash -c. A plain sh has
// no read by length, so it sources the pipe.
//
// Until then the shell's output goes nowhere: what a start-up file or a warning
// prints must not get among the supervisor's own messages, which use the same
// pipe as the command.
const (
	bashLauncher = `IFS= read -r -u 3 REPLY && case $REPLY in C*) LC_ALL=C IFS= read -r -N "${REPLY#C}" -u 3 REPLY;; *) IFS= read -r -N "$REPLY" -u 3 REPLY;; esac && exec 3<&- 1>&4 2>&5 4>&- 5>&- && eval -- "$REPLY"`
	shLauncher   = `exec 1>&4 2>&5 4>&- 5>&-; . /dev/fd/3`
)

// maxArg is the longest argument that Linux takes, MAX_ARG_STRLEN in execve(2),
// in bytes.
const maxArg = 128 << 10

// plain tells that the environment reaches into the shell itself: options that
// print what it reads, files that it runs, functions in the place of builtins.
// Such a shell gets the script as its argument, and no launcher.
func plain(setup Setup) bool {
	for _, kv := range setup.Env {
		name, _, _ := strings.Cut(string(kv), "=")
		switch {
		case name == "SHELLOPTS", name == "BASHOPTS", name == "BASH_ENV", name == "ENV", name == "PS4",
			strings.HasPrefix(name, "BASH_FUNC_"):
			return true
		}
	}
	return false
}

// A child is a process that was started for a command.
type child struct {
	pid    int
	script int  // write end of the script's pipe, or -1
	byLen  bool // the length comes first
	traced bool
	ended  bool
	end    ending // valid once ended
}

// startShell starts a shell that waits for its script.
func startShell(shell string, setup Setup) (*child, error) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return nil, err
	}
	defer unix.Close(pipe[0])
	name := filepath.Base(shell)
	args := []string{name, "-c", shLauncher, name}
	byLen := name == "bash"
	if byLen {
		args[2] = bashLauncher
	}
	null, err := unix.Open("/dev/null", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		unix.Close(pipe[1])
		return nil, err
	}
	defer unix.Close(null)
	files := streams(setup)
	c, err := start(shell, args, setup, []uintptr{files[0], uintptr(null), uintptr(null), uintptr(pipe[0]), files[1], files[2]})
	if err != nil {
		unix.Close(pipe[1])
		return nil, err
	}
	c.script, c.byLen = pipe[1], byLen
	return c, nil
}

// streams are the command's: the supervisor's own, which are the exec's.
func streams(setup Setup) []uintptr {
	files := []uintptr{0, 1, 2}
	if setup.Merge {
		files[2] = 1
	}
	return files
}

// start starts a program with the given descriptors, the first of which is
// replaced by an empty input unless the command has one.
func start(path string, args []string, setup Setup, files []uintptr) (*child, error) {
	if !setup.Stdin {
		null, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		defer unix.Close(null)
		files[0] = uintptr(null)
	}
	env := make([]string, len(setup.Env))
	for i, kv := range setup.Env {
		env[i] = string(kv)
	}
	old := unix.Umask(setup.Umask)
	// A process group of its own: kill 0 is the command's own affair.
	pid, err := syscall.ForkExec(path, args, &syscall.ProcAttr{
		Env: env, Files: files, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	unix.Umask(old)
	if err != nil {
		return nil, err
	}
	// When memory runs out the command goes first, not what reports it. Any
	// process may raise its own kind's score, see proc(5).
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte("500"), 0)
	return &child{pid: pid, script: -1}, nil
}

// give hands the script over and closes the pipe. A shell that died meanwhile
// is told by wait(2), not here.
//
// Seized before the script can run, the shell stops once more when it ends,
// however it ends, and then still has a directory to read. Nothing else uses
// the trace; where it is not allowed the directory is unknown. From here on
// the trace must be served, so the pipe is written without blocking.
func (c *child) give(script []byte) {
	// Another command may have stopped the shell while it waited.
	_ = unix.Kill(c.pid, unix.SIGCONT)
	c.traced = seize(c.pid)
	if c.script < 0 {
		return
	}
	text := script
	if c.byLen {
		// bash counts characters, which are bytes for certain only in ASCII;
		// anything else is read in the C locale, which takes a moment to set.
		head := strconv.Itoa(len(script)) + "\n"
		if !ascii(script) {
			head = "C" + head
		}
		text = append([]byte(head), script...)
	}
	_ = unix.SetNonblock(c.script, true)
	for len(text) > 0 && !c.ended {
		n, err := unix.Write(c.script, text)
		switch {
		case err == nil:
			text = text[n:]
		case errors.Is(err, unix.EAGAIN):
			fds := []unix.PollFd{{Fd: int32(c.script), Events: unix.POLLOUT}}
			_, _ = unix.Poll(fds, 20)
			c.step(unix.WNOHANG)
		case !errors.Is(err, unix.EINTR):
			text = nil // the shell closed its end
		}
	}
	unix.Close(c.script)
	c.script = -1
}

func ascii(text []byte) bool {
	for _, c := range text {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// waits tells whether the shell is still there to take a script: another
// command may have killed it.
func (c *child) waits() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, c.pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo == 0
}

// abandon ends a shell that got no script.
func (c *child) abandon() {
	_ = unix.Kill(c.pid, unix.SIGKILL)
	if c.script >= 0 {
		unix.Close(c.script)
	}
	c.wait()
}

// An ending is how a child ended: a signal, or else a code. Dir is where it
// was, when that could be read.
type ending struct {
	code, signal int
	dir          string
	gone         bool // the directory was removed or replaced
}

// wait returns when the child has ended, reaping orphans on the way and
// serving the trace.
func (c *child) wait() ending {
	for !c.ended {
		c.step(0)
	}
	return c.end
}

// step takes what wait4(2) has to tell once. With WNOHANG it does not block.
func (c *child) step(flags int) {
	var status unix.WaitStatus
	pid, err := unix.Wait4(-1, &status, unix.WALL|flags, nil)
	switch {
	case errors.Is(err, unix.EINTR) || err == nil && pid != c.pid:
	case err != nil:
		// No child at all: only a lost end can look so, and then nothing is
		// known of it.
		c.ended, c.end.signal = true, int(unix.SIGKILL)
	case status.Exited():
		c.ended, c.end.code = true, status.ExitStatus()
	case status.Signaled():
		c.ended, c.end.signal = true, int(status.Signal())
	case status.Stopped():
		c.resume(status)
	}
}
