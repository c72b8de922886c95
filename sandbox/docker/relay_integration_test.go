package docker_test

import (
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A relay passes bytes between clients and the engine's socket until it is told
// to fail, in one of the ways in which a connection does.
type relay struct {
	target   string
	listener *net.UnixListener
	stalled  chan struct{} // closed when bytes are no longer passed on
	closed   chan struct{} // closed by close
	group    sync.WaitGroup

	once  sync.Once
	mu    sync.Mutex
	conns map[*net.UnixConn]struct{} // both sides of what is open
	holds bool                       // new connections get nowhere
	ended bool
}

// newRelay starts a relay to the engine at a host address, which ends with the
// test. Without a socket to stand before the test is skipped.
func newRelay(t *testing.T, host string) *relay {
	t.Helper()
	target, ok := strings.CutPrefix(host, "unix://")
	if !ok {
		t.Skipf("the engine at %s has no socket to stand before", host)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "relay.sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	// So that a client finds a socket that nobody serves, not none at all.
	listener.SetUnlinkOnClose(false)
	r := &relay{
		target: target, listener: listener, conns: map[*net.UnixConn]struct{}{},
		stalled: make(chan struct{}), closed: make(chan struct{}),
	}
	r.group.Go(r.serve)
	t.Cleanup(r.close)
	return r
}

// host is the address under which the relay stands for the engine.
func (r *relay) host() string { return "unix://" + r.listener.Addr().String() }

func (r *relay) serve() {
	for {
		client, err := r.listener.AcceptUnix()
		if err != nil {
			return
		}
		if r.held(client) {
			continue
		}
		engine, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: r.target, Net: "unix"})
		if err != nil {
			client.Close()
			continue
		}
		r.mu.Lock()
		if r.ended {
			client.Close()
			engine.Close()
		} else {
			r.conns[client], r.conns[engine] = struct{}{}, struct{}{}
			r.group.Go(func() { r.pass(client, engine) })
		}
		r.mu.Unlock()
	}
}

// held takes in a connection that nothing is passed on for.
func (r *relay) held(client *net.UnixConn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holds {
		r.conns[client] = struct{}{}
	}
	return r.holds
}

// pass passes bytes both ways until both sides have ended.
func (r *relay) pass(client, engine *net.UnixConn) {
	var both sync.WaitGroup
	both.Go(func() { r.pump(engine, client) })
	both.Go(func() { r.pump(client, engine) })
	both.Wait()
	client.Close()
	engine.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, client)
	delete(r.conns, engine)
}

// pump passes bytes one way. Once stalled it passes on nothing, not even that
// the other side has ended.
func (r *relay) pump(to, from *net.UnixConn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		select {
		case <-r.stalled:
			<-r.closed
			return
		default:
		}
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			// A half is closed as a half: a client that has nothing more to
			// say still listens. A side that is gone needs no word.
			_ = to.CloseWrite()
			return
		}
	}
}

// cut closes every connection. New ones are served.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for conn := range r.conns {
		conn.Close()
	}
}

// refuse refuses new connections. Those that are open go on.
func (r *relay) refuse() { r.listener.Close() }

// hold accepts new connections and passes nothing on for them. Those that are
// open go on.
func (r *relay) hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holds = true
}

// release serves new connections again after hold. Those that were held are
// closed.
func (r *relay) release() {
	r.mu.Lock()
	r.holds = false
	r.mu.Unlock()
	r.cut()
}

// stall passes on no more bytes. It is called once.
func (r *relay) stall() { close(r.stalled) }

// close ends the relay and waits for its goroutines. It may be called again.
func (r *relay) close() {
	r.once.Do(func() {
		r.mu.Lock()
		r.ended = true
		r.mu.Unlock()
		close(r.closed)
		r.refuse()
		r.cut()
		r.group.Wait()
	})
}
