package egress_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belljar/belljar/internal/egress"
	"github.com/belljar/belljar/internal/leaktest"
)

// hang is the time after which something that should have ended is called a
// hang. It says nothing about how fast things should be.
const hang = time.Minute

// A decisions gathers what a proxy decides.
type decisions struct {
	mu   sync.Mutex
	list []egress.Decision
}

func (d *decisions) add(decision egress.Decision) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, decision)
	return nil
}

func (d *decisions) all() []egress.Decision {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.list)
}

// rules parses rules that must be right.
func rules(t testing.TB, texts ...string) []egress.Rule {
	t.Helper()
	var list []egress.Rule
	for _, text := range texts {
		rule, err := egress.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, rule)
	}
	return list
}

// A running proxy with a socket of its own. Names are looked up in a table.
type running struct {
	*egress.Proxy
	*decisions
	socket string
}

// serve starts a proxy that ends with the test, and checks that nothing of it
// is left then.
func serve(t testing.TB, opts egress.Options, names map[string]string) *running {
	t.Helper()
	leaktest.Check(t, 0)
	r := &running{decisions: &decisions{}, socket: filepath.Join(t.TempDir(), "s")}
	if opts.Decided == nil {
		opts.Decided = r.add
	}
	r.Proxy = egress.New(opts)
	egress.SetLookup(r.Proxy, func(_ context.Context, name string) ([]netip.Addr, error) {
		text, ok := names[strings.TrimSuffix(name, ".")]
		if !ok {
			return nil, errors.New("no such host")
		}
		var addrs []netip.Addr
		for one := range strings.SplitSeq(text, " ") {
			addrs = append(addrs, netip.MustParseAddr(one))
		}
		return addrs, nil
	})
	listener, err := net.Listen("unix", r.socket)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1) // one answer, so the sender never waits
	go func() { served <- r.Serve(listener) }()
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("closing the proxy: %v", err)
		}
		select {
		case err := <-served:
			if err != nil {
				t.Errorf("serving: %v", err)
			}
		case <-time.After(hang):
			t.Error("Serve has not ended")
		}
	})
	return r
}

// dial connects to the proxy.
func (r *running) dial(t testing.TB) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", r.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(hang)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// client is an HTTP client that goes by the proxy and follows nothing.
func (r *running) client(t testing.TB) *http.Client {
	t.Helper()
	transport := &http.Transport{
		Proxy:              http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy"}),
		DialContext:        func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", r.socket) },
		DisableCompression: true,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport: transport, Timeout: hang,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ask sends a request as it stands and returns the answer's code and body.
func (r *running) ask(t testing.TB, request string) (int, string) {
	t.Helper()
	conn := r.dial(t)
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	return resp.StatusCode, string(body)
}

// get asks for an address over plain HTTP.
func (r *running) get(t testing.TB, address string) (int, string) {
	t.Helper()
	return r.ask(t, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n", address))
}
