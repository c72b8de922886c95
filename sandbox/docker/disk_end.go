package docker

import (
	"context"
	"time"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/sandbox"
)

const (
	// askWait is how long the end of a command waits for a look at the disk
	// that its end gives reason for, and idleWait where only the space taken
	// does, which the watch answers at once unless it is looking already.
	askWait  = 2 * time.Second
	idleWait = 100 * time.Millisecond
)

// A diskAsk wants a look at the disk now.
type diskAsk struct {
	// always asks for it also where the space that is taken gives no reason.
	always bool
	done   chan struct{} // closed when the watch is through with it
}

// answer looks, where there is reason to.
func (w *diskWatch) answer(ctx context.Context, ask diskAsk) {
	defer close(ask.done)
	if ask.always || w.perhapsOver() {
		w.look(ctx)
	}
}

// check has the watch look before a failed command's end is told, since the
// kernel stops the writer of one large file before the watch has seen it. It
// gives up where that takes too long.
func (w *diskWatch) check(trip *diskTrip, always bool) {
	if w == nil {
		return
	}
	wait := idleWait
	if always {
		wait = askWait
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	ask := diskAsk{always: always, done: make(chan struct{})}
	select {
	case w.asks <- ask:
	case <-trip.done:
		return
	case <-timer.C:
		return
	}
	timer.Reset(askWait)
	select {
	case <-ask.done:
	case <-trip.done: // what is ended because of it need not be waited for
	case <-timer.C:
	}
}

// overDisk makes the end of a command that failed because of the disk limit
// one, where the disk shows it; else it says what the limit on single files may
// have ended.
func (r *run) overDisk(result *sandbox.Result) {
	failed := result.Status == sandbox.Exited && result.ExitCode != nil && *result.ExitCode != 0
	if !failed && result.Status != sandbox.Signaled {
		return
	}
	r.box.disk.check(r.disk, overFileSize(*result))
	if closed(r.disk.done) {
		result.Status, result.ExitCode, result.Signal = sandbox.DiskLimit, nil, ""
		result.Reason = joinReasons(result.Reason, r.disk.reason)
		return
	}
	if note := fileSizeNote(*result, r.box.info.Limits.Disk); note != "" {
		result.Reason = joinReasons(result.Reason, note)
	}
}

// fileSizeSignal is what the kernel sends to the writer of a file beyond the
// limit on its size, and fileSizeCode what a shell makes of it, see signal(7).
const (
	fileSizeSignal = "SIGXFSZ"
	fileSizeCode   = 128 + 25
)

// overFileSize tells whether an end looks like that of a writer at the limit on
// single files.
func overFileSize(r sandbox.Result) bool {
	return r.Signal == fileSizeSignal || r.ExitCode != nil && *r.ExitCode == fileSizeCode
}

// fileSizeNote says what may have ended such a command.
func fileSizeNote(r sandbox.Result, limit int64) string {
	if limit <= 0 || !overFileSize(r) {
		return ""
	}
	return "it may have written a file beyond the disk limit of " + output.Size(limit) +
		", which no single file may pass: that ends a writer with " + fileSizeSignal
}
