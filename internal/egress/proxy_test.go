package egress_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/egress"
)

// A closedListener was closed by another, which Accept has not told yet.
type closedListener struct {
	once sync.Once
	told chan struct{}
}

func (l *closedListener) Accept() (net.Conn, error) { <-l.told; return nil, net.ErrClosed }
func (l *closedListener) Addr() net.Addr            { return &net.TCPAddr{} }

func (l *closedListener) Close() error {
	l.once.Do(func() { close(l.told) })
	return &net.OpError{Op: "close", Net: "tcp", Err: net.ErrClosed}
}

// TestCloseAfterTheListener: a sandbox closes its listener, and the proxy is
// closed right after it, twice.
func TestCloseAfterTheListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := egress.New(egress.Options{})
		served := make(chan error, 1)
		go func() { served <- p.Serve(&closedListener{told: make(chan struct{})}) }()
		synctest.Wait()
		for range 2 {
			if err := p.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

// echo answers a request with what came of it.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s host=%s body=%s\n", r.Method, r.RequestURI, r.Host, body)
	_ = r.Header.Write(w) // a client that is gone shows on its side
}

// newServer starts a server on loopback and returns its address and port.
func newServer(t testing.TB, handler http.HandlerFunc) (address, port string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	address = server.Listener.Addr().String()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return address, port
}

func number(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestPlain(t *testing.T) {
	address, port := newServer(t, echo)
	p := serve(t, egress.Options{Rules: rules(t, address)}, nil)
	code, body := p.ask(t, "POST http://"+address+"/path?q=1 HTTP/1.1\r\nHost: evil.example\r\nConnection: close, X-Drop\r\n"+
		"X-Drop: 1\r\nX-Keep: 2\r\nProxy-Authorization: 3\r\nContent-Length: 4\r\n\r\nbody")
	if code != 200 || !strings.HasPrefix(body, "POST /path?q=1 host="+address+" body=body\n") {
		t.Errorf("got %d %q", code, body)
	}
	for text, want := range map[string]bool{"X-Keep: 2": true, "X-Drop": false, "Proxy-Authorization": false, "evil": false} {
		if strings.Contains(body, text) != want {
			t.Errorf("the server saw %q: %v, want %v; it saw\n%s", text, !want, want, body)
		}
	}
	want := []egress.Decision{{Host: "127.0.0.1", Port: number(t, port), Allowed: true, Rule: address}}
	if diff := cmp.Diff(want, p.all()); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

// TestDenied asks for what may not be reached, in every spelling. Loopback is
// reached by its literal address alone, and only where that was named.
func TestDenied(t *testing.T) {
	var reached atomic.Int64
	address, port := newServer(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	names := map[string]string{
		"inside.example": "127.0.0.1", "six.example": "::1", "mapped.example": "::ffff:127.0.0.1", "metadata.example": "169.254.169.254",
		"a.wild.example": "10.0.0.1 127.0.0.1", "localhost": "127.0.0.1", "other.example": "127.0.0.1",
	}
	opts := egress.Options{Rules: rules(t, "inside.example:"+port, "six.example:"+port, "mapped.example:"+port,
		"metadata.example:"+port, "*.wild.example:"+port, "localhost:"+port)}
	p := serve(t, opts, names)
	for _, test := range []struct {
		host  string
		code  int
		words string
	}{
		{"inside.example", 403, "the private address 127.0.0.1; --allow-private-host inside.example:" + port},
		{"INSIDE.example.", 403, "private address"},
		{"six.example", 403, "private address ::1"},
		{"mapped.example", 403, "private address 127.0.0.1"},
		{"metadata.example", 403, "reserved address 169.254.169.254; only the address itself can be allowed, by --allow-host 169.254.169.254:" + port},
		{"a.wild.example", 403, "private address 10.0.0.1"},
		{"localhost", 403, "private address"},
		{"other.example", 403, "no rule allows it; --allow-host other.example:" + port + " allows it"},
		{"wild.example", 403, "no rule"},
		{"notwild.example", 403, "no rule"},
		{"127.0.0.1", 403, "no rule"},
		{"[::1]", 403, "no rule"},
		{"[::ffff:127.0.0.1]", 403, "no rule"},
		{"0x7f.1", 400, "odd spelling"},
		{"127.1", 400, "odd spelling"},
		{"2130706433", 400, "odd spelling"},
		{"017700000001", 400, "odd spelling"},
		{"user@inside.example", 403, "private"},
	} {
		code, body := p.get(t, "http://"+test.host+":"+port+"/")
		if code != test.code || !strings.Contains(body, test.words) {
			t.Errorf("http %s: %d %q, want %d and %q", test.host, code, body, test.code, test.words)
		}
		if strings.Contains(test.host, "@") {
			continue // no form of a tunnel's target
		}
		request := "CONNECT " + test.host + ":" + port + " HTTP/1.1\r\nHost: " + test.host + "\r\n\r\n"
		if code, body := p.ask(t, request); code != test.code || !strings.Contains(body, test.words) {
			t.Errorf("tunnel to %s: %d %q, want %d and %q", test.host, code, body, test.code, test.words)
		}
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("the server at %s was reached %d times", address, n)
	}
	for _, decision := range p.all() {
		if decision.Allowed || decision.Reason == "" || decision.Hint == "" && decision.Port != 0 {
			t.Errorf("decision %+v, want a denial with a reason", decision)
		}
	}
}

// TestStatusLine: clients that show only the status line of a failed tunnel
// still tell what to do.
func TestStatusLine(t *testing.T) {
	p := serve(t, egress.Options{}, nil)
	conn := p.dial(t)
	fmt.Fprintf(conn, "CONNECT pypi.org:443 HTTP/1.1\r\nHost: pypi.org:443\r\n\r\n")
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "HTTP/1.1 403 belljar does not allow pypi.org:443") || !strings.Contains(line, "--allow-host pypi.org ") {
		t.Errorf("status line %q, %v", line, err)
	}
}

func TestPorts(t *testing.T) {
	opts := egress.Options{Rules: rules(t, "plain.example", "named.example:8443")}
	p := serve(t, opts, map[string]string{"plain.example": "10.0.0.1", "named.example": "10.0.0.1"})
	for target, ruled := range map[string]bool{
		"plain.example:80": true, "plain.example:443": true, "plain.example:22": false, "plain.example:8443": false,
		"named.example:8443": true, "named.example:443": false,
	} {
		code, body := p.ask(t, "CONNECT "+target+" HTTP/1.1\r\nHost: x\r\n\r\n")
		if code != 403 || strings.Contains(body, "no rule") == ruled {
			t.Errorf("%s: %d %q, allowed by a rule: want %v", target, code, body, ruled)
		}
	}
}

func TestPrivateRule(t *testing.T) {
	address, port := newServer(t, echo)
	rule, err := egress.ParsePrivate("inside.example:" + port)
	if err != nil {
		t.Fatal(err)
	}
	metadata, err := egress.ParsePrivate("metadata.example:" + port)
	if err != nil {
		t.Fatal(err)
	}
	p := serve(t, egress.Options{Rules: []egress.Rule{rule, metadata}},
		map[string]string{"inside.example": "169.254.169.254 127.0.0.1", "metadata.example": "169.254.169.254"})
	if code, body := p.get(t, "http://inside.example:"+port+"/"); code != 200 || !strings.Contains(body, "host=inside.example:"+port) {
		t.Errorf("%s by a name that may be private: %d %q", address, code, body)
	}
	if code, body := p.get(t, "http://metadata.example:"+port+"/"); code != 403 {
		t.Errorf("a metadata address by a name that may be private: %d %q", code, body)
	}
}

// TestNotAProxyRequest asks in ways that a proxy does not serve.
func TestNotAProxyRequest(t *testing.T) {
	p := serve(t, egress.Options{Rules: rules(t, "a.example")}, nil)
	for _, request := range []string{
		"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
		"GET https://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
		"GET ftp://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
		"CONNECT a.example HTTP/1.1\r\nHost: a.example\r\n\r\n",
		"nonsense\r\n\r\n",
		"GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nX: " + strings.Repeat("x", 200<<10) + "\r\n\r\n",
	} {
		if code, body := p.ask(t, request); code < 400 || code > 499 || code == 403 {
			t.Errorf("%.60q: %d %q, want a client error", request, code, body)
		}
	}
	const other = "only http addresses are passed on; for https ask for a tunnel (CONNECT)"
	want := []egress.Decision{{Host: "a.example", Reason: other}, {Host: "a.example", Reason: other},
		{Host: "a.example", Reason: `it cannot be told what to connect to: "a.example" names no port`}}
	if diff := cmp.Diff(want, p.all()); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

// TestUnreachable: what is allowed and not there is no denial.
func TestUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	var mu sync.Mutex
	failed := map[string]int{}
	p := serve(t, egress.Options{Rules: rules(t, address, "none.example"), Failed: func(host string, port int, reason string) {
		mu.Lock()
		defer mu.Unlock()
		if reason == "" || strings.Contains(reason, "\n") {
			t.Errorf("the reason is %q", reason)
		}
		failed[net.JoinHostPort(host, strconv.Itoa(port))]++
	}}, nil)
	for _, target := range []string{address, "none.example:80"} {
		if code, body := p.get(t, "http://"+target+"/"); code != 502 || !strings.Contains(body, "cannot reach") {
			t.Errorf("%s: %d %q", target, code, body)
		}
		if code, body := p.ask(t, "CONNECT "+target+" HTTP/1.1\r\nHost: x\r\n\r\n"); code != 502 || !strings.Contains(body, "cannot reach") {
			t.Errorf("tunnel to %s: %d %q", target, code, body)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff(map[string]int{address: 2, "none.example:80": 2}, failed); diff != "" {
		t.Errorf("told as failed (-want +got):\n%s", diff)
	}
}

// TestUnreachableStatusLine: most clients of a tunnel show nothing else.
func TestUnreachableStatusLine(t *testing.T) {
	p := serve(t, egress.Options{Rules: rules(t, "none.example")}, nil)
	conn := p.dial(t)
	if _, err := io.WriteString(conn, "CONNECT none.example:443 HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	const want = "HTTP/1.1 502 belljar cannot reach none.example:443: looking up none.example: no such host\r\n"
	if line != want || err != nil {
		t.Errorf("status line %q, %v; want %q", line, err, want)
	}
}

// TestUnrecorded: what cannot be put on record does not happen.
func TestUnrecorded(t *testing.T) {
	address, _ := newServer(t, echo)
	p := serve(t, egress.Options{Rules: rules(t, address), Decided: func(egress.Decision) error { return errors.New("disk full") }}, nil)
	if code, body := p.get(t, "http://"+address+"/"); code != 403 || !strings.Contains(body, "record") {
		t.Errorf("got %d %q", code, body)
	}
}

// TestLarge passes a large body each way, many at once, through a tunnel and
// over plain HTTP.
func TestLarge(t *testing.T) {
	large := make([]byte, 3<<20)
	_, _ = rand.Read(large) // never fails, see crypto/rand
	handler := func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }
	plain, _ := newServer(t, handler)
	secure := httptest.NewTLSServer(http.HandlerFunc(handler))
	t.Cleanup(secure.Close)
	secureAddress := secure.Listener.Addr().String()
	p := serve(t, egress.Options{Rules: rules(t, plain, secureAddress)}, nil)
	client := p.client(t)
	client.Transport.(*http.Transport).TLSClientConfig = secure.Client().Transport.(*http.Transport).TLSClientConfig
	var group sync.WaitGroup
	for i := range 10 {
		address := "http://" + plain
		if i%2 == 0 {
			address = "https://" + secureAddress
		}
		group.Go(func() {
			resp, err := client.Post(address, "", bytes.NewReader(large))
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			if got, err := io.ReadAll(resp.Body); err != nil || !bytes.Equal(got, large) {
				t.Errorf("%s: %d bytes came back, %v, want the %d that were sent", address, len(got), err, len(large))
			}
		})
	}
	group.Wait()
}

// TestCut: an answer that was cut is not taken for a whole one.
func TestCut(t *testing.T) {
	address, _ := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "part")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	p := serve(t, egress.Options{Rules: rules(t, address)}, nil)
	resp, err := p.client(t).Get("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("%q came without an error", got)
	}
}

func TestAsk(t *testing.T) {
	_, port := newServer(t, echo)
	asked := make(chan string, 10)
	answers := make(chan bool)
	ask := func(ctx context.Context, host string, port int) bool {
		asked <- fmt.Sprintf("%s:%d", host, port)
		select {
		case answer := <-answers:
			return answer
		case <-ctx.Done():
			return false
		}
	}
	p := serve(t, egress.Options{Ask: ask}, map[string]string{"yes.example": "8.8.8.8", "no.example": "8.8.8.8", "inner.example": "127.0.0.1"})
	request := func(host string) string { return "CONNECT " + host + " HTTP/1.1\r\nHost: x\r\n\r\n" }

	// Two ask for the same at once: one question.
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			if code, body := p.ask(t, request("no.example:9")); code != 403 || !strings.Contains(body, "no rule") {
				t.Errorf("refused by the person: %d %q", code, body)
			}
		})
	}
	if got := <-asked; got != "no.example:9" {
		t.Errorf("asked for %s", got)
	}
	answers <- false
	group.Wait()
	// Answered for good, for this port.
	if code, _ := p.ask(t, request("no.example:9")); code != 403 {
		t.Errorf("the second time: %d", code)
	}
	// A yes does not let a name lead inside.
	group.Go(func() {
		if code, body := p.ask(t, request("inner.example:"+port)); code != 403 || !strings.Contains(body, "private address") {
			t.Errorf("a granted name that leads inside: %d %q", code, body)
		}
	})
	<-asked
	answers <- true
	group.Wait()
	// Addresses that are not public are not even asked about.
	if code, _ := p.ask(t, request("169.254.169.254:80")); code != 403 {
		t.Errorf("metadata: %d", code)
	}
	if len(asked) != 0 {
		t.Errorf("asked once more: %s", <-asked)
	}
	// Nobody answers: the proxy's end is an answer.
	conn := p.dial(t)
	if _, err := io.WriteString(conn, request("yes.example:9")); err != nil {
		t.Fatal(err)
	}
	<-asked
}
