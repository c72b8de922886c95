package supervisor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// serve is a spare: it says that it is ready and serves requests until one was
// a Run, or until its stdin ends.
func serve() int {
	// A command must not be able to take its supervisor along with a signal
	// to the process group, such as kill 0 or kill $PPID. Caught and dropped,
	// not ignored: what is ignored stays so in the programs it starts.
	// All of them: kill -SEGV would end a Go program too.
	signal.Notify(make(chan os.Signal, 1))
	// But for those that end nothing: each would wake a thread in the middle
	// of a command.
	signal.Reset(syscall.SIGCHLD, syscall.SIGURG, syscall.SIGWINCH)
	// Not dumpable: no process of the same user can read the nonce from
	// memory, or open the stdin that a script comes over through /proc.
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	// Orphans of the command come here and not to PID 1, so that the tree of
	// processes below this one is exactly the command's. See prctl(2).
	adopts := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == nil

	self, _ := readProcess(os.Getpid())
	s := &spare{counters: openCounterFiles(), shell: findShell(), self: self.Proc, adopts: adopts}
	s.rehearse()
	if _, err := os.Stdout.WriteString(Magic); err != nil {
		return 125
	}
	if s.reply(Request{}, Reply{}) != nil {
		return 125
	}
	for {
		var req Request
		if err := ReadFrame(stdin{}, &req); err != nil {
			s.drop()
			return 0
		}
		switch req.Op {
		case Prepare:
			s.prepare(req.Setup)
		case Count:
			// 0 where it cannot be entered.
			var stat unix.Stat_t
			if root := string(req.Setup.Root); unix.Access(root, unix.X_OK) == nil {
				_ = unix.Stat(root, &stat)
			}
			if s.reply(req, Reply{Inode: stat.Ino}) != nil {
				return 125
			}
		case Kill:
			if s.reply(req, s.kill(req)) != nil {
				return 125
			}
		case Run:
			return s.run(req)
		default:
			_ = s.reply(req, Reply{Error: fmt.Sprintf("unknown request %q", req.Op)})
			return 125
		}
	}
}

// rehearse does once what the end of a command takes, so that its code and the
// tables of the encoder are in memory when the first command ends.
func (s *spare) rehearse() {
	t := Trailer{Before: s.counters.read()}
	s.settle(&t)
	_, _ = json.Marshal(t)
	_, _ = json.Marshal(Reply{})
	_ = json.Unmarshal([]byte("{}"), new(Request))
}

// A spare is the state of one supervisor.
type spare struct {
	counters counterFiles
	shell    string
	self     Proc
	adopts   bool   // orphans of its command become its children
	ready    *child // the shell that was started ahead, or nil
	setup    Setup  // what ready was started from
}

// reply answers a request with what is always told.
func (s *spare) reply(req Request, r Reply) error {
	r.Seq = req.Seq
	r.PID, r.Start = s.self.PID, s.self.Start
	r.Shell = s.shell
	if r.Counters == (Counters{}) {
		r.Counters = s.counters.read()
	}
	return WriteFrame(stdout{}, r)
}

// prepare starts a shell ahead for a later Run of the same setup.
func (s *spare) prepare(setup Setup) {
	if s.ready != nil && sameSetup(s.setup, setup) && s.ready.waits() {
		return
	}
	s.drop()
	if s.shell == "" || setup.Stdin || plain(setup) {
		return
	}
	if lost, err := enter(setup); err != nil || lost {
		return // told when the Run comes
	}
	// A shell that cannot be started now may be so later; Run tries again.
	if c, err := startShell(s.shell, setup); err == nil {
		s.ready, s.setup = c, setup
	}
}

// drop ends the shell that was started ahead.
func (s *spare) drop() {
	if s.ready == nil {
		return
	}
	s.ready.abandon()
	s.ready = nil
}

// enter makes the command's directory the current one, or with a word its root
// when it is gone. A command may have closed the root to itself; the next one
// must be able to open it again, so then it starts at the top.
func enter(setup Setup) (lost bool, err error) {
	if unix.Chdir(string(setup.Dir)) == nil {
		return false, nil
	}
	if unix.Chdir(string(setup.Root)) == nil {
		return true, nil
	}
	return true, unix.Chdir("/")
}

func sameSetup(a, b Setup) bool {
	if string(a.Dir) != string(b.Dir) || a.Umask != b.Umask || a.Merge != b.Merge || a.Stdin != b.Stdin ||
		len(a.Env) != len(b.Env) {
		return false
	}
	for i := range a.Env {
		if string(a.Env[i]) != string(b.Env[i]) {
			return false
		}
	}
	return true
}

// findShell returns the shell that scripts run in: bash where there is one.
func findShell() string {
	for _, path := range []string{"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/bin/sh", "/usr/bin/sh", "/busybox/sh"} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// stdin and stdout are the plain descriptors: os.Stdin's buffering of nothing
// is the same, but a blocked read there involves the runtime's poller.
type stdin struct{}

func (stdin) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(0, p)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

type stdout struct{}

func (stdout) Write(p []byte) (int, error) { return writeAll(1, p) }

// writeAll writes everything to a pipe that a command may have made
// non-blocking for all who share it.
func writeAll(fd int, p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n, err := unix.Write(fd, p[done:])
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
			_, _ = unix.Poll(fds, 1000)
		case err != nil:
			return done, err
		default:
			done += n
		}
	}
	return done, nil
}
