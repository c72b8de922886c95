package supervisor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// serve is a spare: it says that it is ready and serves requests until one was
// a Run, or until its stdin ends.
func serve() int {
	catchSignals()
	// Not dumpable: no process of the same user can read the nonce from
	// memory, or open the stdin that a script comes over through /proc.
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	// Orphans of the command come here and not to PID 1, so that the tree of
	// processes below this one is exactly the command's. See prctl(2).
	adopts := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == nil

	self, _ := readProcess(os.Getpid())
	s := &spare{shell: findShell(), self: self.Proc, adopts: adopts}
	if s.ready() != nil {
		return 125
	}
	// While that is on its way.
	startThreads(spareThreads)
	s.counters = openCounterFiles()
	s.rehearse()
	for {
		collect()
		var req Request
		if err := ReadFrame(stdin{}, &req); err != nil {
			s.drop()
			return 0
		}
		switch req.Op {
		case Prepare:
			s.prepare(req.Setup)
		case Count:
			reply := identify(string(req.Setup.Root))
			reply.Now = fileClock()
			if len(req.Places) > 0 {
				limits := readLimits(req.Places)
				reply.Limits = &limits
			}
			if s.reply(req, reply) != nil {
				return 125
			}
		case Give:
			reply := Reply{Error: "there is nothing to give"}
			if req.Giving != nil {
				reply = Reply{Given: give(*req.Giving, GiveBound)}
			}
			if s.reply(req, reply) != nil {
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

// catchSignals keeps a command from taking its supervisor along with a signal
// to the process group, such as kill 0 or kill $PPID. Caught and dropped, not
// ignored: what is ignored stays so in the programs it starts.
//
// These are the signals that end or stop a Go program which does not ask for
// them, see os/signal; kill -SEGV does too. To ask for one takes a tenth of a
// millisecond, which every start of a spare waits for.
func catchSignals() {
	signal.Notify(make(chan os.Signal, 1),
		unix.SIGHUP, unix.SIGINT, unix.SIGTERM, unix.SIGQUIT, unix.SIGABRT, unix.SIGILL, unix.SIGTRAP, unix.SIGSTKFLT,
		unix.SIGSYS, unix.SIGBUS, unix.SIGFPE, unix.SIGSEGV, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU)
}

// ready says that this supervisor is, in one piece: each costs a round through
// the engine's copiers.
func (s *spare) ready() error {
	var message bytes.Buffer
	message.WriteString(Magic)
	if err := WriteFrame(&message, Reply{PID: s.self.PID, Start: s.self.Start, Shell: s.shell}); err != nil {
		return err
	}
	_, err := stdout{}.Write(message.Bytes())
	return err
}

// rehearse does once what the end of a command takes, so that its code and the
// tables of the encoder are in memory when the first command ends.
func (s *spare) rehearse() {
	t := Trailer{Before: s.counters.read()}
	s.settle(&t)
	body, _ := json.Marshal(t)
	_ = Seal(nil, body)
	_, _ = json.Marshal(Reply{})
	_ = json.Unmarshal([]byte("{}"), new(Request))
}

// identify answers a Count about a path.
func identify(path string) Reply {
	var stat unix.Stat_t
	if unix.Stat(path, &stat) != nil {
		return Reply{NoEntry: true}
	}
	return Reply{Inode: stat.Ino, Device: uint64(stat.Dev), Ids: &Ids{int(stat.Uid), int(stat.Gid)}, NoEntry: unix.Access(path, unix.X_OK) != nil}
}

// A spare is the state of one supervisor.
type spare struct {
	counters counterFiles
	shell    string
	self     Proc
	adopts   bool   // orphans of its command become its children
	table    table  // of the last Kill: one that ends many would fill its memory with new ones
	ahead    *child // the shell that was started ahead, or nil
	setup    Setup  // what ahead was started from
	guard    *guard // nil but for a command that nobody else could end
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
	if s.ahead != nil && sameSetup(s.setup, setup) && s.ahead.waits() {
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
		s.ahead, s.setup = c, setup
	}
}

// drop ends the shell that was started ahead.
func (s *spare) drop() {
	if s.ahead == nil {
		return
	}
	s.ahead.abandon()
	s.ahead = nil
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
