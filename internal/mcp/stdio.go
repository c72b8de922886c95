package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// unclosed writes to what the caller closes.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// ServeStreams serves the one client that writes to in and reads from out, a
// message a line, until it closes in or ctx ends. Calls that run then are ended:
// closing its end is how a client says goodbye. The server is stopped at the
// return. A read of in that still blocks is left behind.
func (s *Server) ServeStreams(ctx context.Context, in io.Reader, out io.Writer) error {
	defer s.Stop()
	client, err := s.sdk.Connect(context.WithoutCancel(ctx), &sdk.IOTransport{
		Reader: io.NopCloser(in), Writer: unclosed{out}, MaxLineLength: maxMessage,
	}, nil)
	if err != nil {
		return fmt.Errorf("serving the client: %w", err)
	}
	ended := make(chan error, 1) // one end, so that the sender never waits
	go func() { ended <- client.Wait() }()
	select {
	case err := <-ended:
		if err == nil || errors.Is(err, io.EOF) {
			return nil
		}
		return fmt.Errorf("reading the client's messages: %w", err)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
