package docker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/docker/docker/api/types"
)

// hijack sends a request and takes over its connection, as the engine's API
// does for attach and for starting an exec. The client's own way looks at the
// context only while it dials, so an engine that accepts a connection and says
// nothing on it would hold the caller for ever. The caller closes the response.
func (e *Engine) hijack(ctx context.Context, path string, body any) (_ types.HijackedResponse, err error) {
	conn, err := e.api.Dialer()(ctx)
	if err != nil {
		return types.HijackedResponse{}, fmt.Errorf("%w: %w", errDial, err)
	}
	release := context.AfterFunc(ctx, func() { conn.Close() })
	defer func() {
		if !release() && err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			conn.Close()
		}
	}()
	encoded, err := json.Marshal(body)
	if err != nil {
		return types.HijackedResponse{}, err
	}
	url := "http://docker/v" + strings.TrimPrefix(e.api.ClientVersion(), "v") + path
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(encoded))
	if err != nil {
		return types.HijackedResponse{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "tcp")
	if err := req.Write(conn); err != nil {
		return types.HijackedResponse{}, err
	}
	reader := bufio.NewReader(conn)
	resp, err := http.ReadResponse(reader, req)
	if err != nil {
		return types.HijackedResponse{}, err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		defer resp.Body.Close()
		return types.HijackedResponse{}, engineError(resp)
	}
	return types.HijackedResponse{Conn: conn, Reader: reader}, nil
}

// errDial is wrapped when the engine takes no connection.
var errDial = errors.New("the engine takes no connection")

// dialFailed tells that there is no engine at the other end any more.
func dialFailed(err error) bool {
	var op *net.OpError
	return errors.Is(err, errDial) || errors.As(err, &op) && op.Op == "dial"
}

// engineError is what the engine said instead of switching protocols.
func engineError(resp *http.Response) error {
	var answer struct{ Message string }
	text, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if err != nil || json.Unmarshal(text, &answer) != nil || answer.Message == "" {
		answer.Message = oneLine(string(text))
	}
	return fmt.Errorf("%s: %s", resp.Status, answer.Message)
}
