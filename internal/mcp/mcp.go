// Package mcp offers tools to clients of the Model Context Protocol, over the
// standard streams of a process or over HTTP.
//
// The words used here:
//
//   - A client is a program of somebody else's with a model of its own.
//   - A session is one client's connection from its handshake to its end.
//   - A [Host] is what the calls of one session run in. It is started at the
//     first call: clients start all their servers when they start themselves and
//     wait for the handshakes, and most never call. A start that fails is thus
//     the answer to a call, where the model and its user see it, and the next
//     call tries again.
package mcp

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/belljar/belljar/tools"
)

const (
	// maxMessage bounds one message of a client, in bytes: a call that writes a
	// large file is one.
	maxMessage = 16 << 20
	// progressEvery is how often a client that wants to know is told that a call
	// still runs.
	progressEvery = time.Second
	// stopTime bounds how long the ends of sessions are waited for when the server
	// stops and their hosts are closed.
	stopTime = 500 * time.Millisecond
)

// A Host runs the calls of one session. It is safe for concurrent use.
type Host interface {
	// Call runs one call, and ends it when the context ends. An error, unless the
	// context has ended, means that the host broke and is of no further use.
	Call(ctx context.Context, call Call) (tools.Result, error)
	// Close gives everything back and ends the calls that still run. It has its
	// own time bound and may be called more than once.
	Close() error
}

// A Call is one call of a tool.
type Call struct {
	Name      string
	Arguments json.RawMessage
	// Output takes the raw output of tools that stream it; nil is nobody.
	Output io.Writer
}

// Options are what a Server offers. Tools and Start are required.
type Options struct {
	// Version is that of this program.
	Version string
	// Instructions tell a model how the tools are meant; clients may leave them
	// out.
	Instructions string
	// Tools describe what is offered.
	Tools []tools.Definition
	// Beside names tools whose calls look at or end what other calls do, and so
	// wait for none of them.
	Beside []string
	// OpenWorld says that commands reach more than this machine.
	OpenWorld bool
	// Start makes a session's host. The context is that of the session.
	Start func(ctx context.Context) (Host, error)
	// MaxSessions bounds the sessions at once; 0 is one.
	MaxSessions int
	// Notice is told, a line each, of what goes wrong beside the calls. It is
	// called by several goroutines; nil discards.
	Notice func(text string)
	// Log takes what the protocol's library has to say; nil discards.
	Log *slog.Logger
}

// A Server serves sessions. Stop ends them.
type Server struct {
	opts Options
	sdk  *sdk.Server
	// running counts the goroutines that wait for the ends of sessions.
	running sync.WaitGroup

	mu       sync.Mutex
	stopped  bool
	sessions map[*sdk.ServerSession]*session
}

// New makes a server. It starts nothing.
func New(opts Options) *Server {
	if opts.MaxSessions == 0 {
		opts.MaxSessions = 1
	}
	if opts.Notice == nil {
		opts.Notice = func(string) {}
	}
	s := &Server{opts: opts, sessions: map[*sdk.ServerSession]*session{}}
	s.sdk = sdk.NewServer(
		&sdk.Implementation{Name: "belljar", Title: "belljar", Version: opts.Version},
		&sdk.ServerOptions{
			Instructions: opts.Instructions, Logger: opts.Log,
			// The tools of a server never change, so nobody need wait to be told.
			Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		})
	s.sdk.AddReceivingMiddleware(s.admit)
	for _, def := range opts.Tools {
		s.sdk.AddTool(describe(def, opts.OpenWorld), s.handle(opts.share(def)))
	}
	return s
}

// Stop ends every session, with the calls that run, and returns when their hosts
// are closed. No session begins afterwards. It may be called more than once.
func (s *Server) Stop() {
	s.mu.Lock()
	s.stopped = true
	var clients, hosts sync.WaitGroup
	for client, session := range s.sessions {
		session.end()
		clients.Go(func() { _ = client.Close() }) // it waits for the calls, which end now
		hosts.Go(session.close)
	}
	s.mu.Unlock()
	ended := make(chan struct{}) // closed when all sessions are over
	go func() {
		defer close(ended)
		clients.Wait()
		s.running.Wait()
	}()
	hosts.Wait()
	// A client that does not read holds up the end of its session for as long as
	// it likes.
	select {
	case <-ended:
	case <-time.After(stopTime):
	}
}
