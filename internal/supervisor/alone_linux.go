package supervisor

import (
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A guard lets a supervisor take a Kill while its own command runs, for a time
// when no other one waits that could end it. A thread that is started before
// the command reads; the ending itself is the work of the one that waits for
// the command's shell, which the reader wakes by killing that shell.
type guard struct {
	asked atomic.Bool // a Kill came
	shell atomic.Pointer[process]
	ended atomic.Bool // the shell lived when the Kill came
}

// startGuard starts the reader. Its thread, and one more than usual for the
// runtime, are there when it returns, so that a command that fills the process
// limit comes too late.
func startGuard() *guard {
	startThreads(spareThreads + 1)
	g := &guard{}
	go g.read()
	return g
}

// read takes requests until one was a Kill, or until stdin ends: whoever could
// ask is gone then, and PID 1 ends everything.
func (g *guard) read() {
	for {
		var req Request
		if ReadFrame(stdin{}, &req) != nil {
			return
		}
		if req.Op == Kill {
			break
		}
	}
	g.asked.Store(true)
	g.wake()
}

// watch names the process that the supervisor waits for.
func (g *guard) watch(pid int) {
	if g == nil {
		return
	}
	if p, ok := readProcess(pid); ok {
		g.shell.Store(&p)
	}
	if g.asked.Load() {
		g.wake()
	}
}

// wake ends the wait for the shell.
func (g *guard) wake() {
	shell := g.shell.Load()
	if shell == nil {
		return
	}
	if now, ok := readProcess(shell.PID); ok && now.Start == shell.Start && now.alive() && rawKill(shell.PID, unix.SIGKILL) == 0 {
		g.ended.Store(true)
	}
}

// wanted tells whether a Kill came.
func (g *guard) wanted() bool { return g != nil && g.asked.Load() }

// yield lets the reader have the only processor: system calls that the runtime
// is not told of keep it.
func (g *guard) yield() {
	if g != nil {
		runtime.Gosched()
	}
}

// endOwn ends what is left of the command, and notes it in the trailer.
func (s *spare) endOwn(t *Trailer) {
	report := s.kill(Request{Victims: []Proc{s.self}})
	t.Ended, t.Clean = true, report.Clean
	t.Killed, t.KillCount = report.Killed, report.Count
	if shell := s.guard.shell.Load(); s.guard.ended.Load() {
		t.Killed = append(shell.appendTo(nil), t.Killed[:min(len(t.Killed), maxListed-1)]...)
		t.KillCount++
	}
	t.Left, t.LeftCount = descendants(s.self.PID)
	t.After = s.counters.read()
}
