package docker

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
)

// The lease is the container's stdin. PID 1 ends the container when it is
// closed, or after leaseSilence without a byte; each byte is answered, so that
// a connection that stalls shows on this side after leaseStall.
//
// Both sides count silence in steps and never by comparing two points in time.
// A clock that was set, a machine that slept and a process that was stopped
// count as one step, however long it was, so that the other side gets to speak
// before it is given up. What goes on while this machine sleeps, an engine
// elsewhere, ends the container as if this machine had died.
const (
	leaseBeat    = 10 * time.Second
	leaseSilence = 60 * time.Second
	leaseStall   = 30 * time.Second
)

// leaseTimes are the times of a lease; tests use shorter ones.
type leaseTimes struct{ beat, stall time.Duration }

// A lease holds a container alive. lost is closed when it is at an end: the
// container's, the engine's, or release's.
type lease struct {
	conn  types.HijackedResponse
	lost  chan struct{}
	once  sync.Once
	group sync.WaitGroup // the goroutines: one writes, one reads, one waits
	stop  context.CancelFunc
	began chan struct{} // closed when the container runs
	ended chan struct{} // closed when the engine told the container's end, or will not

	mu   sync.Mutex
	why  string
	code *int64 // the container's exit code, once the engine told it
	said []byte // the first of what PID 1 wrote to stderr
}

// saidBound is how much is kept of what PID 1 writes to stderr: the first line
// of what a Go program says when it cannot go on.
const saidBound = 200

// holdLease starts the goroutines of a lease. The caller says when the
// container runs, and releases the lease. What comes is read from in, which may
// have been read before. The channels come from a wait that was asked for before
// the container was started; stopWait ends it.
func holdLease(conn types.HijackedResponse, in *frames, times leaseTimes, exit <-chan container.WaitResponse, failed <-chan error, stopWait context.CancelFunc) *lease {
	l := &lease{conn: conn, lost: make(chan struct{}), stop: stopWait, began: make(chan struct{}), ended: make(chan struct{})}
	var answers atomic.Int64 // how many came
	l.group.Go(func() {
		for {
			id, data, err := in.next()
			switch {
			case err != nil:
				l.lose("the connection to the container was closed")
				return
			case id == streamStderr:
				l.hear(data)
			default:
				answers.Add(1)
			}
		}
	})
	l.group.Go(func() {
		select {
		case <-l.began: // nobody answers before
		case <-l.lost:
			return
		}
		l.beat(times, &answers)
	})
	l.group.Go(func() {
		defer close(l.ended)
		// One of them always comes, at the latest after stopWait. The client
		// waits until it is taken.
		select {
		case r := <-exit:
			l.mu.Lock()
			l.code = &r.StatusCode
			l.mu.Unlock()
			l.lose("the container has ended")
		case <-failed:
		}
	})
	return l
}

// beat writes the bytes until the lease is lost.
func (l *lease) beat(times leaseTimes, answers *atomic.Int64) {
	tick := time.NewTicker(times.beat)
	defer tick.Stop()
	var silent time.Duration // since an answer came
	for seen := int64(0); ; {
		_ = l.conn.Conn.SetWriteDeadline(time.Now().Add(times.stall))
		if _, err := l.conn.Conn.Write([]byte{'.'}); err != nil {
			l.lose("the connection to the container was closed")
			return
		}
		select {
		case <-tick.C: // one, also when several have passed
		case <-l.lost:
			return
		}
		// One answer may stand for several bytes.
		if count := answers.Load(); count > seen {
			seen, silent = count, 0
			continue
		}
		if silent += times.beat; silent > times.stall {
			l.lose(fmt.Sprintf("the connection to the engine stalled: nothing came back for %v", times.stall))
			return
		}
	}
}

// hear keeps the first of what PID 1 says on stderr.
func (l *lease) hear(data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, data[:min(len(data), saidBound-len(l.said))]...)
}

// begin says that the container runs.
func (l *lease) begin() { close(l.began) }

// lose ends the lease with a reason; only the first counts.
func (l *lease) lose(why string) {
	l.once.Do(func() {
		l.mu.Lock()
		l.why = why
		l.mu.Unlock()
		close(l.lost)
		l.conn.Close()
	})
}

// finish lets PID 1 come to its end by itself and returns its exit code, if
// that came within the bound.
func (l *lease) finish(bound time.Duration) (code int64, ok bool) {
	_ = l.conn.CloseWrite()
	select {
	case <-l.ended:
	case <-time.After(bound):
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.code == nil {
		return 0, false
	}
	return *l.code, true
}

// release gives the container up and waits for the goroutines.
func (l *lease) release() {
	l.lose("the sandbox was closed")
	l.stop()
	l.group.Wait()
}

func (l *lease) reason() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.why
}

// exitText tells how PID 1 ended, as far as it is known: the container's exit
// code and the first line of what PID 1 said.
func (l *lease) exitText() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var parts []string
	if l.code != nil {
		parts = append(parts, fmt.Sprintf("exit code %d", *l.code))
	}
	if line, _, _ := bytes.Cut(l.said, []byte("\n")); len(line) > 0 {
		parts = append(parts, fmt.Sprintf("it said %q", line))
	}
	return strings.Join(parts, ", ")
}
