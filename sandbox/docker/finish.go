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
	// halfWait is how long stderr's trailer may come after stdout's. It was
	// written before, but the engine copies the two apart, each when it gets to
	// it. It never comes where a process inside reads the pipe itself.
	halfWait = 10 * time.Second
	// halfLooks is after how many of these at most no more is waited for, where
	// pieces come all the time and none was being written at the look.
	halfLooks = 6
)

// finish waits for the end of the command, or brings it about. Where several
// ends come together the first of the contract's order counts, so after a wait
// all are looked at again.
func (r *run) finish(ctx context.Context) (sandbox.Result, error) {
	defer r.sink.detach()
	r.feedStdin()
	timer := time.NewTimer(r.cmd.Timeout)
	defer timer.Stop()
	timeout := timer.C
	if r.cmd.Timeout == 0 {
		timeout = nil
	}
	expired := false
	select {
	case <-r.spare.done:
	case <-r.sink.half:
		expired = r.awaitOther(ctx, timeout)
	case <-timeout:
		expired = true
	case <-r.sink.over:
	case <-r.sink.failed:
	case <-r.disk.done:
	case <-ctx.Done():
	}
	switch cause := context.Cause(ctx); {
	case cause != nil && isMachine(cause):
		r.spare.close()
		if result, ok := r.exhausted(""); ok {
			return result, nil
		}
		return sandbox.Result{}, r.box.explain("running a command", cause)
	case cause != nil:
		return r.endIt(sandbox.Canceled)
	case expired:
		return r.endIt(sandbox.TimedOut)
	case closed(r.sink.over):
		return r.endIt(sandbox.OutputLimit)
	case closed(r.sink.failed):
		return r.endIt(sandbox.Canceled)
	case closed(r.disk.done):
		return r.endIt(sandbox.DiskLimit)
	default:
		return r.ended()
	}
}

// closed tells whether a channel that only ever is closed has been.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// awaitOther waits for stderr's trailer after stdout's, and tells whether the
// command's time was over before. A reader of the output that is slow keeps it
// waiting; silence does not, nor does any other end.
func (r *run) awaitOther(ctx context.Context, timeout <-chan time.Time) (expired bool) {
	before := r.sink.pieces.Load()
	for looks := 0; ; {
		select {
		case <-r.spare.done:
			return false
		case <-timeout:
			return true
		case <-r.sink.over:
			return false
		case <-r.sink.failed:
			return false
		case <-r.disk.done:
			return false
		case <-ctx.Done():
			return false
		case <-time.After(halfWait):
		}
		if r.sink.writing.Load() {
			continue
		}
		now := r.sink.pieces.Load()
		if looks++; now == before || looks == halfLooks {
			return false
		}
		before = now
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
	if trailer.LeftCount > 0 {
		// All of its session, for those that the trailer had no room for.
		r.box.remember(append(trailer.Left, supervisor.Proc{Session: r.spare.self.PID}))
	}
	result := sandbox.Result{
		Dir: r.endDir(trailer.Dir), DirLost: r.dirLost,
		OOMKills:     rise(trailer.Before.OOMKills, trailer.After.OOMKills),
		ForkFailures: rise(trailer.Before.ForkFailures, trailer.After.ForkFailures),
		Left:         processes(trailer.Left), LeftCount: trailer.LeftCount,
		Killed: processes(trailer.Killed), KilledCount: trailer.KillCount,
	}
	defer func() { r.next(result.Dir) }()
	if trailer.StartError != 0 {
		return r.notStarted(trailer.StartError, result)
	}
	if trailer.Signal != 0 {
		result.Signal = signalName(trailer.Signal)
	} else {
		result.ExitCode = &trailer.Code
	}
	result.Status = naturalStatus(result, trailer.Cleared)
	if trailer.DirGone {
		result.Dir, result.Reason = r.box.info.MountPoint, "the directory in which it ended is gone"
	}
	if trailer.Cleared {
		result.Reason = "the process limit was still full at its end, so what it left was ended"
	}
	if note := r.sink.missing(); note != "" {
		result.Reason = joinReasons(result.Reason, note)
	}
	r.overDisk(&result)
	// What came with the last pieces counts as much as what came before.
	switch {
	case closed(r.sink.over):
		result.Status, result.ExitCode, result.Signal = sandbox.OutputLimit, nil, ""
	case closed(r.sink.failed):
		return result, r.writeError()
	}
	return result, nil
}

func (r *run) writeError() error {
	return fmt.Errorf("writing the command's output: %w", r.sink.writeErr)
}

// notStarted makes the result of a command that could not be started. Of an
// argv it is what a shell would say and end with.
func (r *run) notStarted(errno int, result sandbox.Result) (sandbox.Result, error) {
	text, code := startErrorText(errno)
	switch {
	case errno == linuxEAGAIN:
		result.Status, result.Reason = sandbox.PidsLimit, "the command was not started: "+text
		return result, nil
	case len(r.cmd.Args) > 0:
		to := r.sink.stderr
		if to == nil {
			to = r.sink.stdout
		}
		r.sink.emit(to, fmt.Appendf(nil, "belljar: %s: %s\n", r.cmd.Args[0], text))
		result.ExitCode = &code
		result.Status = naturalStatus(result, false)
		return result, nil
	case errno == linuxE2BIG:
		return sandbox.Result{}, fmt.Errorf("%w: %s", sandbox.ErrInvalidCommand, text)
	default:
		return sandbox.Result{}, r.box.explain("starting the shell", errors.New(r.spare.shell+": "+text))
	}
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

// endedWithoutTrailer makes the result when the supervisor was ended: what the
// command left is ended too, since nobody knows what it is any more.
func (r *run) endedWithoutTrailer() (sandbox.Result, error) {
	code, err := r.box.execCode(r.spare.execID)
	report, killErr := r.box.endProcesses(supervisor.Request{Victims: []supervisor.Proc{r.spare.self}, Orphans: true})
	if killErr != nil && r.box.endContainer(killErr, leftAlive) {
		result := r.killedResult(report)
		result.Status, result.Signal, result.Reason = sandbox.Signaled, "SIGKILL", sandboxEnded
		return result, nil
	}
	if err == nil {
		err = killErr
	}
	if err != nil {
		if result, ok := r.exhausted(""); ok {
			return result, nil
		}
		return sandbox.Result{}, r.box.explain("running a command", err)
	}
	result := r.killedResult(report)
	result.Signal = "SIGKILL"
	// A supervisor never ends by itself with a code like these, so here the
	// code is evidence of a signal.
	if code > 128 && code <= 128+64 {
		result.Signal = signalName(code - 128)
	}
	r.box.mu.Lock()
	cleared := r.box.cleared != r.cleared
	r.box.mu.Unlock()
	switch {
	case cleared:
		result.Status = sandbox.Signaled
		result.Reason = "another command filled the process limit, so everything in the sandbox had to be ended"
	case result.OOMKills > 0:
		result.Status = sandbox.OutOfMemory
		result.Reason = "the process that watches over it was ended as well"
	default:
		result.Status = naturalStatus(result, false)
		result.Reason = "the command ended the process that watches over it; what it had started was ended"
	}
	r.next(r.dir)
	return result, nil
}

// endIt ends the command's processes and makes the result.
func (r *run) endIt(status sandbox.Status) (sandbox.Result, error) {
	report, err := r.endProcesses()
	reason := ""
	if status == sandbox.DiskLimit {
		reason = r.disk.reason
	}
	if err != nil {
		if !r.box.endContainer(err, leftAlive) {
			if result, ok := r.exhausted(status); ok {
				return result, nil
			}
			r.spare.close()
			return sandbox.Result{}, r.box.explain("ending a command ("+string(status)+")", err)
		}
		reason = joinReasons(reason, sandboxEnded)
	}
	// What was written before the end is on its way.
	select {
	case <-r.spare.done:
	case <-time.After(drainWait):
	}
	r.spare.close()
	result := r.killedResult(report)
	result.Status, result.Reason = status, reason
	r.next(result.Dir)
	if closed(r.sink.failed) {
		return result, r.writeError()
	}
	return result, nil
}

// sandboxEnded is the reason in a result when nothing less would do.
const sandboxEnded = "its processes kept others from ending them, so the whole sandbox was ended"

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
	if r.box.once {
		return
	}
	setup := r.box.setup(r.cmd, dir)
	if len(r.cmd.Args) == 0 {
		r.box.pool.hint(setup)
	}
	r.box.pool.top(0)
}

var errNotClean = errors.New("some of its processes could not be ended")
