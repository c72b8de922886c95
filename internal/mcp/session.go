package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/semaphore"
)

// The methods that make a session where there is none yet. Newer clients call
// without a handshake.
const (
	methodInitialize = "initialize"
	methodCall       = "tools/call"
)

// codeServer is the first of JSON-RPC's codes that are a server's own.
const codeServer = -32000

// errStopped refuses what comes while the server ends.
var errStopped = &jsonrpc.Error{Code: codeServer, Message: "the server is ending"}

// A session is one client's, with the host that its calls run in.
type session struct {
	opts *Options
	// life ends with the session, and with it all calls.
	life  context.Context
	end   context.CancelFunc
	turns *semaphore.Weighted

	mu      sync.Mutex
	calls   int // that run or wait
	held    int // by their arguments, in bytes
	closed  bool
	host    *started       // nil until the first call, and after the host broke
	hosts   sync.WaitGroup // starts, and closes of hosts that broke, that are under way
	closing sync.Once
}

// A started host is one that a call has asked for.
type started struct {
	done chan struct{} // closed when the start is over; the fields below are set then
	host Host
	err  error
}

// admit makes a session of a client's first message, unless there are too many.
func (s *Server) admit(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		client, ok := req.GetSession().(*sdk.ServerSession)
		if ok && (method == methodInitialize || method == methodCall) {
			if _, err := s.session(client); err != nil {
				return nil, err
			}
		}
		return next(ctx, method, req)
	}
}

// session finds the session of a client, or makes one.
func (s *Server) session(client *sdk.ServerSession) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch known := s.sessions[client]; {
	case s.stopped:
		return nil, errStopped
	case known != nil:
		return known, nil
	case len(s.sessions) >= s.opts.MaxSessions:
		return nil, &jsonrpc.Error{Code: codeServer, Message: fmt.Sprintf(
			"as many sessions as may be at once are open (%d): end one, or wait until one that idles is ended", s.opts.MaxSessions)}
	}
	made := &session{opts: &s.opts, turns: newTurns()}
	made.life, made.end = context.WithCancel(context.Background())
	s.sessions[client] = made
	s.running.Go(func() {
		_ = client.Wait() // how it ended is the client's
		made.close()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.sessions, client)
	})
	return made, nil
}

// ready gives the session's host, which is started when there is none. A call
// that does not wait for it leaves the start to the next one.
func (s *session) ready(ctx context.Context) (*started, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errStopped
	}
	host := s.host
	if host == nil {
		host = &started{done: make(chan struct{})}
		s.host = host
		s.hosts.Go(func() {
			defer close(host.done)
			host.host, host.err = s.opts.Start(s.life)
		})
	}
	s.mu.Unlock()
	select {
	case <-host.done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if host.err != nil {
		s.forget(host)
		return nil, host.err
	}
	return host, nil
}

// forget has the next call start another host.
func (s *session) forget(host *started) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.host == host {
		s.host = nil
	}
}

// replace closes a host that broke and has the next call start another one. Of
// the calls that met it one closes it; the end of the session waits for that.
func (s *session) replace(host *started) {
	s.mu.Lock()
	if s.closed || s.host != host {
		s.mu.Unlock()
		return
	}
	s.host = nil
	s.hosts.Add(1)
	s.mu.Unlock()
	defer s.hosts.Done()
	s.tell(host.host.Close())
}

// close ends the session's calls and closes its host. All callers return when
// that is done.
func (s *session) close() {
	s.closing.Do(func() {
		s.end()
		s.mu.Lock()
		s.closed = true
		host := s.host
		s.mu.Unlock()
		s.hosts.Wait() // a start was told to end, and a close ends by itself
		if host != nil && host.err == nil {
			s.tell(host.host.Close())
		}
	})
}

// tell passes on what went wrong where no call is the one to say it.
func (s *session) tell(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		s.opts.Notice(err.Error())
	}
}
