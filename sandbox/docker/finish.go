package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/belljar/belljar/internal/supervisor"
	"github.com/belljar/belljar/sandbox"
)

const (
	// drainWait is how long output that is still under way is taken after a
	// command's processes were ended.
	drainWait = 2 * time.Second
	// halfWait is how long stderr's trailer may come after stdout's.
	halfWait = 3 * time.Second
)

// finish waits for the end of the command, or brings it about.
func (r *run) finish(ctx context.Context) (sandbox.Result, error) {
	r.feedStdin()
	var timeout <-chan time.Time
	if r.cmd.Timeout > 0 {
		timer := time.NewTimer(r.cmd.Timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-r.spare.done:
		return r.ended()
	case <-r.sink.half:
		select {
		case <-r.spare.done:
		case <-time.After(halfWait):
		}
		return r.ended()
	case <-timeout:
		return r.endIt(sandbox.TimedOut)
	case <-r.sink.over:
		return r.endIt(sandbox.OutputLimit)
	case <-r.sink.failed:
		result, err := r.endIt(sandbox.Canceled)
		if err != nil {
			return result, err
		}
		return result, fmt.Errorf("writing the command's output: %w", r.sink.writeErr)
	case <-ctx.Done():
		cause := context.Cause(ctx)
		if isMachine(cause) {
			r.spare.close()
			return sandbox.Result{}, r.box.explain("running a command", cause)
		}
		return r.endIt(sandbox.Canceled)
	}
}

// feedStdin copies the command's input. The copier ends with its source or
// when the stream is closed.
func (r *run) feedStdin() {
	if r.cmd.Stdin == nil {
		return
	}
	go func() {
		// A command that does not read its input is no failure, so a broken
		// stream shows only on the output side.
		_, _ = io.Copy(r.spare.conn.Conn, r.cmd.Stdin)
		_ = r.spare.conn.CloseWrite()
	}()
}

// ended makes the result of a command whose stream has ended by itself.
func (r *run) ended() (sandbox.Result, error) {
	r.spare.close()
	trailer, ok := r.sink.trailer()
	if !ok {
		return r.endedWithoutTrailer()
	}
	r.box.remember(trailer.Left)
	result := sandbox.Result{
		Dir: r.endDir(trailer.Dir), DirLost: r.dirLost,
		OOMKills:     rise(trailer.Before.OOMKills, trailer.After.OOMKills),
		ForkFailures: rise(trailer.Before.ForkFailures, trailer.After.ForkFailures),
		Left:         processes(trailer.Left), LeftCount: trailer.LeftCount,
		Killed: processes(trailer.Killed), KilledCount: trailer.KillCount,
	}
	if trailer.StartError != 0 {
		trailer.Code = r.startFailed(trailer.StartError)
	}
	if trailer.Signal != 0 {
		result.Signal = signalName(trailer.Signal)
	} else {
		code := trailer.Code
		result.ExitCode = &code
	}
	result.Status = naturalStatus(result, trailer.Cleared)
	if trailer.Cleared {
		result.Reason = "the process limit was still full at its end, so what it left was ended"
	}
	r.next(result.Dir)
	return result, nil
}

// naturalStatus tells how a command ended that nobody ended, by evidence.
func naturalStatus(r sandbox.Result, cleared bool) sandbox.Status {
	success := r.ExitCode != nil && *r.ExitCode == 0
	switch {
	case cleared:
		return sandbox.PidsLimit
	case r.OOMKills > 0 && !success:
		return sandbox.OutOfMemory
	case r.ForkFailures > 0 && !success:
		return sandbox.PidsLimit
	case r.Signal != "":
		return sandbox.Signaled
	default:
		return sandbox.Exited
	}
}

// endedWithoutTrailer makes the result when the supervisor was killed: the
// engine's word on the exec decides, and what the command left is ended, since
// nobody knows what it is any more.
func (r *run) endedWithoutTrailer() (sandbox.Result, error) {
	code, err := r.box.execCode(r.spare.execID)
	if err != nil {
		return sandbox.Result{}, r.box.explain("running a command", err)
	}
	report, err := r.box.endProcesses(supervisor.Request{Victims: []supervisor.Proc{r.spare.self}, Orphans: true})
	if err != nil {
		return sandbox.Result{}, r.box.explain("ending what a command left", err)
	}
	result := r.killedResult(report)
	// A supervisor never ends by itself with a code like these, so here the
	// code is evidence of a signal.
	if code <= 128 || code > 128+64 {
		return sandbox.Result{}, r.box.explain("running a command", fmt.Errorf("its supervisor ended with code %d", code))
	}
	result.Signal = signalName(code - 128)
	result.Reason = "the command killed the process that watches over it; what it had started was ended"
	r.box.mu.Lock()
	if r.box.cleared != r.cleared {
		result.Reason = "another command filled the process limit, so everything in the sandbox had to be ended"
	}
	r.box.mu.Unlock()
	result.Status = naturalStatus(result, false)
	r.next(r.dir)
	return result, nil
}

// endIt ends the command's processes and makes the result.
func (r *run) endIt(status sandbox.Status) (sandbox.Result, error) {
	report, err := r.box.endProcesses(supervisor.Request{Victims: []supervisor.Proc{r.spare.self}, Orphans: !r.spare.alive()})
	if err != nil {
		r.spare.close()
		return sandbox.Result{}, r.box.explain("ending a command ("+string(status)+")", err)
	}
	// Everything that could write is gone; what was written is on its way.
	select {
	case <-r.spare.done:
	case <-r.sink.half:
	case <-time.After(drainWait):
	}
	r.spare.close()
	result := r.killedResult(report)
	result.Status = status
	r.next(result.Dir)
	return result, nil
}

// killedResult is the part of a result that a Kill tells.
func (r *run) killedResult(report supervisor.Reply) sandbox.Result {
	return sandbox.Result{
		Dir: r.endDir(report.Dir), DirLost: r.dirLost,
		OOMKills:     rise(r.before.OOMKills, report.Counters.OOMKills),
		ForkFailures: rise(r.before.ForkFailures, report.Counters.ForkFailures),
		Killed:       processes(report.Killed), KilledCount: report.Count,
	}
}

// next starts the spares for what the next command probably is: the same in
// the directory where this one ended.
func (r *run) next(dir string) {
	setup := r.box.setup(r.cmd, dir)
	if len(r.cmd.Args) == 0 {
		r.box.pool.hint(setup)
	}
	r.box.pool.top(0)
}

// startDir is where the command really began.
func (r *run) startDir() string {
	if r.dirLost {
		return r.box.info.MountPoint
	}
	return r.dir
}

// endDir is where the command ended, as far as the supervisor could tell.
func (r *run) endDir(dir []byte) string {
	if len(dir) == 0 || dir[0] != '/' || len(r.cmd.Args) > 0 {
		return r.startDir()
	}
	return string(dir)
}

// startFailed says what a shell would say of an argv that could not be
// started, and returns the code that a shell would end with.
func (r *run) startFailed(errno int) int {
	text, code := startErrorText(errno)
	if r.cmd.Stderr != nil {
		_, _ = fmt.Fprintf(r.cmd.Stderr, "belljar: %s: %s\n", r.cmd.Args[0], text)
	}
	return code
}

func rise(before, after int64) int {
	if before < 0 || after < before {
		return 0
	}
	return int(after - before)
}

func processes(list []supervisor.Proc) []sandbox.Process {
	var out []sandbox.Process
	for _, p := range list[:min(len(list), sandbox.MaxProcesses)] {
		out = append(out, sandbox.Process{PID: p.PID, Name: p.Name})
	}
	return out
}

var errNotClean = errors.New("some of its processes could not be ended")
