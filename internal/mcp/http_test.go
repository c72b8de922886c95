package mcp_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/belljar/belljar/internal/leaktest"
	"github.com/belljar/belljar/internal/mcp"
)

const token = "a token that is long enough"

// serve serves on a free port until stop is called, which gives what Serve
// returned.
func serve(t *testing.T, opts mcp.Options, web mcp.HTTPOptions) (url string, stop func() error) {
	t.Helper()
	return serveAt(t, "127.0.0.1:0", opts, web)
}

// serveAt is serve at an address that leads to this machine.
func serveAt(t *testing.T, address string, opts mcp.Options, web mcp.HTTPOptions) (url string, stop func() error) {
	t.Helper()
	l, err := net.Listen("tcp4", address)
	if err != nil {
		t.Fatal(err)
	}
	web.Token = token
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() { done <- mcp.New(opts).Serve(ctx, l, web) }()
	stopped := false
	stop = func() error {
		stopped = true
		cancel(errStop)
		return wait(t, done, "the end of the server")
	}
	t.Cleanup(func() {
		if !stopped {
			_ = stop()
		}
	})
	return fmt.Sprintf("http://127.0.0.1:%d%s", l.Addr().(*net.TCPAddr).Port, mcp.Endpoint), stop
}

var errStop = fmt.Errorf("the test is over")

// A bearer adds the token to requests.
type bearer struct{ transport *http.Transport }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return b.transport.RoundTrip(r)
}

// dial connects a client over HTTP.
func dial(t *testing.T, url string) (*sdk.ClientSession, error) {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &sdk.StreamableClientTransport{
			Endpoint: url, HTTPClient: &http.Client{Transport: bearer{transport}}, MaxRetries: -1,
		}, nil)
	if err == nil {
		t.Cleanup(func() { _ = session.Close() })
	}
	return session, err
}

func mustDial(t *testing.T, url string) *sdk.ClientSession {
	t.Helper()
	session, err := dial(t, url)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func TestGuard(t *testing.T) {
	const good = "Bearer " + token
	tests := []struct {
		name, host, origin, auth string
		remote                   bool
		want                     int
	}{
		{"all is right", "", "", good, false, http.StatusOK},
		{"by the other name of the loopback", "localhost", "", good, false, http.StatusOK},
		{"by IPv6", "[::1]", "", good, false, http.StatusOK},
		{"the scheme in other letters", "", "", "bearer " + token, false, http.StatusOK},
		{"no token", "", "", "", false, http.StatusUnauthorized},
		{"no scheme", "", "", token, false, http.StatusUnauthorized},
		{"another scheme", "", "", "Basic " + token, false, http.StatusUnauthorized},
		{"a part of the token", "", "", good[:len(good)-1], false, http.StatusUnauthorized},
		{"more than the token", "", "", good + "x", false, http.StatusUnauthorized},
		{"a name that leads here", "rebound.example", "", good, false, http.StatusForbidden},
		{"a name that looks like one", "localhost.example", "", good, false, http.StatusForbidden},
		{"an address of elsewhere", "192.0.2.1", "", good, false, http.StatusForbidden},
		{"a name, and others may come", "box.example", "", good, true, http.StatusOK},
		{"others may come without the token", "box.example", "", "", true, http.StatusUnauthorized},
		{"a page of this machine", "", "http://localhost:6274", good, false, http.StatusOK},
		{"a page of elsewhere", "", "https://evil.example", good, false, http.StatusForbidden},
		{"a page of elsewhere, and others may come", "", "https://evil.example", good, true, http.StatusForbidden},
		{"a page without a name", "", "null", good, false, http.StatusForbidden},
		{"a page that looks like one of here", "", "http://127.0.0.1.evil.example", good, false, http.StatusForbidden},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			address := "127.0.0.1:0"
			if test.remote {
				address = "0.0.0.0:0"
			}
			url, _ := serveAt(t, address, options(&starter{}), mcp.HTTPOptions{AllowRemote: test.remote})
			body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			req.Host = test.host
			for name, value := range map[string]string{"Origin": test.origin, "Authorization": test.auth} {
				if value != "" {
					req.Header.Set(name, value)
				}
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != test.want {
				t.Errorf("status %d, want %d", resp.StatusCode, test.want)
			}
		})
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestSessionsAreApart(t *testing.T) {
	leaktest.Check(t, 0)
	s := &starter{}
	opts := options(s)
	opts.MaxSessions = 2
	url, stop := serve(t, opts, mcp.HTTPOptions{})
	first, second := mustDial(t, url), mustDial(t, url)
	call(t, first, "say", "1")
	firstHost := s.last()
	call(t, second, "say", "2")
	secondHost := s.last()
	call(t, first, "say", "3")
	if n := s.count(); n != 2 {
		t.Errorf("%d hosts, want one for each of two sessions", n)
	}
	if _, err := dial(t, url); err == nil || !strings.Contains(err.Error(), "as many sessions as may be") {
		t.Errorf("a third session: %v", err)
	}
	// The end of one makes room, also while it calls.
	go first.CallTool(t.Context(), &sdk.CallToolParams{Name: "run", Arguments: map[string]any{"do": "wait"}})
	wait(t, firstHost.running, "the call")
	remove(t, url, first.ID())
	wait(t, firstHost.closed, "the host of the session that ended")
	third := retry(t, func() (*sdk.ClientSession, error) { return dial(t, url) })
	call(t, third, "say", "4")
	select {
	case <-secondHost.closed:
		t.Error("the host of the other session is closed")
	default:
	}
	if err := stop(); err != errStop {
		t.Errorf("the server ended with %v", err)
	}
	for _, h := range []*host{secondHost, s.last()} {
		wait(t, h.closed, "a host of the server that stopped")
	}
}

// remove ends a session as clients do.
func remove(t *testing.T, url, id string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Mcp-Session-Id", id)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resp, err := bearer{transport}.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		t.Errorf("DELETE: status %d", resp.StatusCode)
	}
}

// retry does something until it works: nothing tells a client that there is
// room.
func retry[T any](t *testing.T, do func() (T, error)) T {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		value, err := do()
		if err == nil {
			return value
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

func TestIdleSessionsEnd(t *testing.T) {
	s := &starter{}
	url, _ := serve(t, options(s), mcp.HTTPOptions{IdleTimeout: 200 * time.Millisecond})
	client := mustDial(t, url)
	call(t, client, "say", "1")
	wait(t, s.last().closed, "the host of the idle session")
	_, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "run", Arguments: map[string]any{"do": "say"}})
	if err == nil {
		t.Error("the session goes on")
	}
}

func TestStopWhileClientsHang(t *testing.T) {
	leaktest.Check(t, 0)
	s := &starter{}
	url, stop := serve(t, options(s), mcp.HTTPOptions{})
	client := mustDial(t, url)
	call(t, client, "say", "1")
	go client.CallTool(t.Context(), &sdk.CallToolParams{Name: "run", Arguments: map[string]any{"do": "wait"}})
	wait(t, s.last().running, "the call")
	// And one that sends half of a request.
	half, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(url, "http://"), mcp.Endpoint))
	if err != nil {
		t.Fatal(err)
	}
	defer half.Close()
	fmt.Fprintf(half, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 100\r\n\r\n{", mcp.Endpoint, token)
	begun := time.Now()
	_ = stop()
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("the stop took %s", took)
	}
	wait(t, s.last().closed, "the host")
}

// post sends an initialize request by a host's name and gives the status. The
// message has so many bytes more.
func post(t *testing.T, url, host string, more int) int {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"` +
		strings.Repeat("x", more) + `","version":"1"}}}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resp, err := bearer{transport}.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

func TestSizeOfRequests(t *testing.T) {
	url, _ := serve(t, options(&starter{}), mcp.HTTPOptions{})
	if code := post(t, url, "", 15<<20); code != http.StatusOK {
		t.Errorf("15 MiB: status %d", code)
	}
	if code := post(t, url, "", 16<<20); code != http.StatusRequestEntityTooLarge {
		t.Errorf("more than 16 MiB: status %d", code)
	}
}

func TestNamesOfALoopbackAddress(t *testing.T) {
	url, _ := serve(t, options(&starter{}), mcp.HTTPOptions{AllowRemote: true})
	if code := post(t, url, "rebound.example", 0); code != http.StatusForbidden {
		t.Errorf("a name that leads here, where others might come: status %d", code)
	}
}

func TestListenerThatFails(t *testing.T) {
	leaktest.Check(t, 0)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1) // one end
	go func() { done <- mcp.New(options(&starter{})).Serve(t.Context(), l, mcp.HTTPOptions{Token: token}) }()
	half, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer half.Close()
	// An answer shows that the connection came in.
	if _, err := fmt.Fprint(half, "GET / HTTP/1.1\r\nHost: elsewhere\r\n\r\nPOST "); err != nil {
		t.Fatal(err)
	}
	answer := bufio.NewReader(half)
	if _, err := answer.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := wait(t, done, "the end"); err == nil || !strings.Contains(err.Error(), "serving HTTP: ") {
		t.Errorf("err %v", err)
	}
}

func TestTokensDiffer(t *testing.T) {
	a, b := mcp.NewToken(), mcp.NewToken()
	if a == b || len(a) < 40 {
		t.Errorf("tokens %q and %q", a, b)
	}
}
