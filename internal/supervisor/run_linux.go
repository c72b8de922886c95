package supervisor

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// run runs the one command of this supervisor and writes its trailer.
func (s *spare) run(req Request) int {
	script := make([]byte, req.ScriptLen)
	if _, err := io.ReadFull(stdin{}, script); err != nil {
		s.drop()
		return 0
	}
	if len(req.Nonce) != NonceLen {
		return 125
	}
	useAhead := s.ahead != nil && !plain(req.Setup) && len(req.Args) == 0 && sameSetup(s.setup, req.Setup) &&
		s.ahead.waits() && sameFile(string(req.Setup.Dir), ".")
	if !useAhead {
		s.drop()
	}
	lost, err := false, error(nil)
	if !useAhead {
		lost, err = enter(req.Setup)
	}
	if err != nil {
		_ = s.reply(req, Reply{Error: "entering " + string(req.Setup.Root) + ": " + err.Error()})
		return 125
	}
	if len(req.Args) == 0 && s.shell == "" {
		_ = s.reply(req, Reply{Error: "the image has no shell, so that only an argv can be run"})
		return 125
	}
	if req.Alone && !req.Setup.Stdin {
		s.guard = startGuard()
	}
	// Acknowledged: from here on the command may have run.
	trailer := Trailer{Before: s.counters.read()}
	if s.reply(req, Reply{DirLost: lost, Counters: trailer.Before}) != nil {
		return 125
	}
	c := s.ahead
	s.ahead = nil
	switch {
	case len(req.Args) > 0:
		c, err = startArgs(req)
	case plain(req.Setup) && len(script) < maxArg:
		c, err = start(s.shell, []string{filepath.Base(s.shell), "-c", string(script)}, req.Setup, streams(req.Setup))
	case c == nil:
		c, err = startShell(s.shell, req.Setup)
	}
	if err != nil {
		trailer.StartError = int(syscall.EIO)
		var errno syscall.Errno
		if errors.As(err, &errno) {
			trailer.StartError = int(errno)
		}
	} else {
		s.guard.watch(c.pid)
		c.give(script)
		end := c.wait()
		trailer.Code, trailer.Signal, trailer.Dir, trailer.DirGone = end.code, end.signal, []byte(end.dir), end.gone
	}
	s.settle(&trailer)
	writeTrailer(req, trailer)
	return 0
}

// sameFile tells whether two paths name one file. The directory that a shell
// was started in may have been removed or replaced meanwhile.
func sameFile(a, b string) bool {
	var first, second unix.Stat_t
	return unix.Stat(a, &first) == nil && unix.Stat(b, &second) == nil && first.Dev == second.Dev && first.Ino == second.Ino
}

// A command that leaves more and more processes is watched for settleBound at
// most: a fork bomb in the background fills its limit within it. It is let go
// after stillLooks looks at which nothing was forked, or once growWait has
// passed without the number having doubled.
const (
	settleBound = 3 * time.Second
	growWait    = 300 * time.Millisecond
	stillLooks  = 3
)

// settle fills in what the command left behind. A process limit that is full
// would stop everything after it, so then what was left is ended. A fork bomb
// may only have begun when its shell ends, hence a second look while the number
// still grows.
func (s *spare) settle(t *Trailer) {
	if s.guard.wanted() {
		s.endOwn(t)
		return
	}
	if s.alone() {
		t.After = s.counters.read()
		return
	}
	start, first, still := time.Now(), 0, 0
	for last := uint64(0); ; {
		t.Left, t.LeftCount = descendants(s.self.PID)
		t.After = s.counters.read()
		if first == 0 {
			first = t.LeftCount
		}
		now := lastPID()
		if still++; now != last {
			last, still = now, 0
		}
		s.guard.yield()
		if s.guard.wanted() {
			s.endOwn(t)
			return
		}
		waited := time.Since(start)
		if t.LeftCount == 0 || t.After.Full() || still >= stillLooks || waited > settleBound ||
			waited > growWait && t.LeftCount < 2*first+8 {
			break
		}
		pause(10)
	}
	if t.LeftCount > 0 && t.After.Full() {
		report := s.kill(Request{Victims: []Proc{s.self}})
		t.Killed, t.KillCount, t.Cleared = report.Killed, report.Count, true
		t.Left, t.LeftCount = descendants(s.self.PID)
		t.After = s.counters.read()
	}
}

// alone takes the children that have ended and tells whether that was all of
// them. What a command leaves behind becomes a child of its supervisor, so
// none is left then; to know that takes no look at the process table.
func (s *spare) alone() bool {
	if !s.adopts {
		return false
	}
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.ECHILD):
			return true
		case err == nil && pid <= 0:
			return false
		}
	}
}

// startArgs starts a program without a shell, looked up in the command's own
// PATH.
func startArgs(req Request) (*child, error) {
	args := make([]string, len(req.Args))
	for i, arg := range req.Args {
		args[i] = string(arg)
	}
	path, err := lookPath(args[0], req.Setup)
	if err != nil {
		return nil, err
	}
	return start(path, args, req.Setup, streams(req.Setup))
}

// lookPath finds a program as a shell would.
func lookPath(name string, setup Setup) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	search := ""
	for _, kv := range setup.Env {
		if value, ok := strings.CutPrefix(string(kv), "PATH="); ok {
			search = value
		}
	}
	found := error(syscall.ENOENT)
	for dir := range strings.SplitSeq(search, ":") {
		if dir == "" {
			dir = "."
		}
		path, err := exec.LookPath(dir + "/" + name)
		if err == nil {
			return path, nil
		}
		if errors.Is(err, os.ErrPermission) {
			found = syscall.EACCES
		}
	}
	return "", found
}

// writeTrailer writes the trailer to both streams, each in one piece. The two
// have copiers of their own, so a trailer on one would overtake data on the
// other. Where the command had only one there is nothing to wait for on the
// other.
func writeTrailer(req Request, t Trailer) {
	frame := func() []byte {
		body, err := json.Marshal(t)
		if err != nil {
			return nil
		}
		out := append([]byte{TrailerMark}, req.Nonce...)
		return append(append(out, Seal(req.Key, body)...), TrailerEnd)
	}
	out := frame()
	// What is not needed to say how the command ended gives way first.
	if len(out) > MaxTrailer {
		t.Left, t.Killed = nil, nil
		out = frame()
	}
	if len(out) > MaxTrailer {
		t.Dir = nil
		out = frame()
	}
	if !req.Setup.Merge {
		errOut := append(append([]byte{TrailerMark}, req.Nonce...), TrailerEnd)
		_, _ = writeAll(2, errOut)
	}
	_, _ = writeAll(1, out)
	_ = unix.Close(2)
	_ = unix.Close(1)
}
