package mcp

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Endpoint is the path of the server.
const Endpoint = "/mcp"

const (
	// headerTime is how long the head of a request may take, and idleTime how
	// long a connection stays without one.
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	// maxHeader bounds the head of a request, in bytes.
	maxHeader = 64 << 10
	// sessionHeader names the session of a request.
	sessionHeader = "Mcp-Session-Id"
)

// HTTPOptions say who may come in. Token is required.
type HTTPOptions struct {
	// Token is what each request must bear.
	Token string
	// IdleTimeout ends sessions that ask for nothing that long; 0 is never.
	IdleTimeout time.Duration
	// AllowRemote lets requests through by any name, where the server listens on an
	// address other than the loopback's; it is for the caller to listen there or not.
	AllowRemote bool
}

// Serve serves clients over streamable HTTP until ctx ends, each session with
// a host of its own. It closes the listener, and has stopped the server at the
// return.
func (s *Server) Serve(ctx context.Context, l net.Listener, opts HTTPOptions) error {
	// On a loopback address only a page's name that was made to lead here is another.
	opts.AllowRemote = opts.AllowRemote && !isLoopback(l.Addr().String())
	server := &http.Server{
		Handler: s.handler(opts), ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: log.New(noticeWriter{s.opts.Notice}, "", 0),
	}
	var failed error             // set when ended is closed
	ended := make(chan struct{}) // closed when no connection comes in any more
	go func() {
		defer close(ended)
		failed = server.Serve(l)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	// The sessions first: with them end the requests that hang on their streams.
	s.Stop()
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if server.Shutdown(bound) != nil {
		_ = server.Close() // what is still open is the clients' fault
	}
	<-ended
	if !errors.Is(failed, http.ErrServerClosed) {
		return errors.Join(context.Cause(ctx), fmt.Errorf("serving HTTP: %w", failed))
	}
	return context.Cause(ctx)
}

// handler answers requests that may come in.
func (s *Server) handler(opts HTTPOptions) http.Handler {
	streams := sdk.NewStreamableHTTPHandler(
		func(*http.Request) *sdk.Server { return s.sdk },
		&sdk.StreamableHTTPOptions{
			Logger: s.opts.Log, SessionTimeout: opts.IdleTimeout, MaxRequestBodyBytes: maxMessage,
			// The guard below looks at more, and knows what was allowed.
			DisableLocalhostProtection: true,
		})
	mux := http.NewServeMux()
	mux.HandleFunc(Endpoint, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			// The end of a session waits for its calls.
			s.endCalls(r.Header.Get(sessionHeader))
		}
		streams.ServeHTTP(w, r)
	})
	return guard(opts, mux)
}

// endCalls ends the calls of a session.
func (s *Server) endCalls(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for client, session := range s.sessions {
		if id != "" && client.ID() == id {
			session.end()
		}
	}
}

// A noticeWriter passes the HTTP server's own log on.
type noticeWriter struct{ notice func(string) }

func (w noticeWriter) Write(p []byte) (int, error) {
	w.notice(string(p))
	return len(p), nil
}
