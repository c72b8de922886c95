package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// unclosed writes to what the caller closes.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// A watched reader tells when there is nothing more to read.
type watched struct {
	io.Reader
	once sync.Once
	end  chan struct{} // closed at the first error, the end of input being one
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if err != nil {
		w.once.Do(func() { close(w.end) })
	}
	return n, err
}

// ServeStreams serves the one client that writes to in and reads from out, a
// message a line, until it closes in or ctx ends. Calls that run then are ended:
// closing its end is how a client says goodbye. The server is stopped at the
// return. A read of in or a write to out that still blocks is left behind.
func (s *Server) ServeStreams(ctx context.Context, in io.Reader, out io.Writer) error {
	defer s.Stop()
	input := &watched{Reader: in, end: make(chan struct{})}
	client, err := s.sdk.Connect(context.WithoutCancel(ctx), &sdk.IOTransport{
		Reader: io.NopCloser(input), Writer: unclosed{out}, MaxLineLength: maxMessage,
	}, nil)
	if err != nil {
		return fmt.Errorf("serving the client: %w", err)
	}
	ended := make(chan error, 1) // one end, so that the sender never waits
	go func() { ended <- client.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-input.end:
		// The session ends by itself, unless the client has also stopped reading
		// what it asked for.
		select {
		case err = <-ended:
		case <-time.After(stopTime):
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("serving the client: %w", err)
	}
	return nil
}
