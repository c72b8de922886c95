package openai

import (
	"context"
	"fmt"
	"io"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/belljar/belljar/agent/model"
)

// A phase is what a request waits for.
type phase int

const (
	connecting phase = iota // for a connection
	beginning               // for the first piece of the answer
	going                   // for the next piece
	ending                  // for what follows a whole answer
)

// A stall is a wait that was too long. It is the cause of a context that a
// watch canceled.
type stall struct {
	phase phase
	limit time.Duration
	alive bool // something came in the wait, but nothing of the answer
}

// Error says in one line what did not come.
func (s *stall) Error() string {
	said := ""
	switch s.phase {
	case connecting:
		return fmt.Sprintf("no connection within %s; is the server running?", s.limit)
	case beginning:
		said = fmt.Sprintf("no answer began within %s", s.limit)
	default:
		said = fmt.Sprintf("the answer stopped: nothing more came for %s", s.limit)
	}
	if s.alive {
		said += ", though the server keeps the connection alive"
	} else {
		said += ", and no sign of life either"
	}
	return said + "; a slow server needs a longer --idle-timeout"
}

// kind sorts the stall.
func (s *stall) kind() model.Kind {
	if s.phase == connecting {
		return model.Transient
	}
	return model.Stalled
}

// A watch cancels a request that waits too long. Safe for concurrent use.
type watch struct {
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	wait  stall // the wait that goes on
}

// startWatch returns a watch that gives a connection the limit, and then an
// answer first to begin in. Stop it in the end.
func startWatch(ctx context.Context, limit, first time.Duration) (*watch, context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{cancel: cancel}
	w.start(connecting, limit)
	return w, httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { w.connected(first) },
	})
}

func (w *watch) start(p phase, limit time.Duration) {
	w.wait = stall{phase: p, limit: limit}
	w.timer = time.AfterFunc(limit, w.expire)
}

func (w *watch) expire() {
	w.mu.Lock()
	wait := w.wait
	w.mu.Unlock()
	w.cancel(&wait)
}

// connected ends the wait for a connection. It is called when there is one,
// and again when an answer begins, for ways to a server that do not tell.
func (w *watch) connected(first time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wait.phase == connecting {
		w.change(beginning, first)
	}
}

// next begins another wait from now on.
func (w *watch) next(p phase, limit time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.change(p, limit)
}

// change begins another wait, unless it is too late.
func (w *watch) change(p phase, limit time.Duration) {
	if w.timer.Stop() {
		w.start(p, limit)
	}
}

// saw notes that something came. It lengthens no wait.
func (w *watch) saw() {
	w.mu.Lock()
	w.wait.alive = true
	w.mu.Unlock()
}

// stop ends the watch and the request.
func (w *watch) stop() {
	w.mu.Lock()
	w.timer.Stop()
	w.mu.Unlock()
	w.cancel(nil)
}

// A watchedReader tells the watch of everything that comes.
type watchedReader struct {
	io.Reader
	watch *watch
}

func (r watchedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.watch.saw()
	}
	return n, err
}
