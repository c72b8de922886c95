package sandboxtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A probe learns where a shell ends. The shell's EXIT trap opens one named
// pipe, which tells that it is at its end, and then waits at another until
// its folder has been read from /proc. Opening is all it does: it runs no
// builtin that the script may have replaced, writes nothing, and needs none of
// the shell's streams, variables or search path.
type probe struct {
	settled *os.File // our end of the pipe that the trap opens
	release string   // the pipe that the trap waits at
	done    chan struct{}
	dir     string   // what was read; owned by watch until done is closed
	held    *os.File // holds release open; the same
}

// newProbe makes the named pipes in dir and lets give hand them to the
// command's user.
func newProbe(dir string, give func(string) error) (*probe, error) {
	settled, release := filepath.Join(dir, "settled"), filepath.Join(dir, "release")
	for _, name := range []string{settled, release} {
		if err := unix.Mkfifo(name, 0o600); err != nil {
			return nil, fmt.Errorf("making %s: %w", name, err)
		}
		if err := give(name); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(settled, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the shell's signal: %w", err)
	}
	return &probe{settled: f, release: release, done: make(chan struct{})}, nil
}

// trap is the command that makes a shell report.
func (p *probe) trap() string {
	return "trap " + quote(">"+quote(p.settled.Name())+"; <"+quote(p.release)) + " EXIT"
}

// quote makes a word of a shell script of any text.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// watch waits for the shell's report, reads its folder and lets it go on. It
// closes done.
func (p *probe) watch(pid int) {
	defer close(p.done)
	if p.wait() != nil {
		return
	}
	p.dir = folderOf(pid)
	// Opened for both ways it does not wait for the shell to be there.
	p.held, _ = os.OpenFile(p.release, os.O_RDWR, 0)
}

// wait returns when the shell has opened and closed the pipe, or with an
// error when it was interrupted.
func (p *probe) wait() error {
	conn, err := p.settled.SyscallConn()
	if err != nil {
		return err
	}
	return conn.Read(func(fd uintptr) bool {
		// A pipe that had a writer and has none now is hung up; one that had
		// none so far is not, although reading it looks the same.
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		_, err := unix.Poll(poll, 0)
		return err == nil && poll[0].Revents&unix.POLLHUP != 0
	})
}

// finish stops watching and answers the folder, "" when it is not known. It
// is called when the shell has ended.
func (p *probe) finish() string {
	interrupt(p.settled)
	<-p.done
	p.close()
	return p.dir
}

// close closes the pipes of a probe that does not watch any more.
func (p *probe) close() {
	p.settled.Close()
	if p.held != nil {
		p.held.Close()
	}
}

// folderOf reads the folder that a process is in; "" when it cannot.
func folderOf(pid int) string {
	link := fmt.Sprintf("/proc/%d/cwd", pid)
	dir, err := os.Readlink(link)
	if err != nil || !filepath.IsAbs(dir) {
		return ""
	}
	inside, err1 := os.Stat(link)
	named, err2 := os.Stat(dir)
	if errors.Join(err1, err2) != nil || !os.SameFile(inside, named) {
		// The kernel says so in the name, which a folder may really have.
		return strings.TrimSuffix(dir, " (deleted)")
	}
	return dir
}
