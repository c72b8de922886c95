package openai_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/openai"
)

// listen takes connections and hands each to serve.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() { // ends with the listener
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serve(conn)
		}
	}()
	return l.Addr().String()
}

// failDial is a client whose connections fail with an error as the system's
// dialer gives it.
func failDial(err error) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}}}
}

// TestWayToTheServer: each failure of the way is named in words that tell
// what to do, and only those that may pass are tried again.
func TestWayToTheServer(t *testing.T) {
	quiet := log.New(io.Discard, "", 0)
	demanding := httptest.NewUnstartedServer(http.NotFoundHandler())
	demanding.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12}
	demanding.Config.ErrorLog = quiet
	demanding.StartTLS()
	t.Cleanup(demanding.Close)
	dated := httptest.NewUnstartedServer(http.NotFoundHandler())
	dated.Config.ErrorLog = quiet
	dated.StartTLS()
	t.Cleanup(dated.Close)
	trusting := func(change func(*tls.Config)) *http.Client {
		transport := dated.Client().Transport.(*http.Transport).Clone()
		change(transport.TLSClientConfig)
		return &http.Client{Transport: transport}
	}
	silent := listen(t, func(conn net.Conn) { t.Cleanup(func() { conn.Close() }) })
	resets := listen(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 1))
		_ = conn.(*net.TCPConn).SetLinger(0) // a reset instead of an end
		conn.Close()
	})
	closed := listen(t, func(conn net.Conn) { conn.Close() })
	proxy, err := url.Parse("http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		url    string
		client *http.Client
		kind   model.Kind
		says   string
	}{
		"no such name":    {"http://none.example/v1", failDial(&net.DNSError{Err: "no such host", Name: "none.example", IsNotFound: true}), model.NoHost, `no host of the name "none.example"`},
		"no DNS server":   {"http://some.example/v1", failDial(&net.DNSError{Err: "i/o timeout", Name: "some.example", IsTimeout: true}), model.Transient, "no DNS server answers"},
		"DNS failed":      {"http://some.example/v1", failDial(&net.DNSError{Err: "server misbehaving", Name: "some.example", IsTemporary: true}), model.Transient, "could not be looked up (server misbehaving)"},
		"no network":      {"http://some.example/v1", failDial(syscall.ENETUNREACH), model.Transient, "check the network"},
		"no route":        {"http://some.example/v1", failDial(syscall.EHOSTUNREACH), model.Transient, "check the network"},
		"no answer":       {"http://some.example/v1", failDial(timeout{}), model.Transient, "it does not answer"},
		"odd failure":     {"http://some.example/v1", failDial(errors.New("too many open files")), model.Transient, "too many open files"},
		"nothing listens": {"http://127.0.0.1:1/v1", nil, model.Transient, "nothing listens there"},
		"no proxy":        {"http://some.example/v1", &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}, model.Transient, "proxy"},
		"reset":           {"http://" + resets + "/v1", nil, model.Cut, "cut by the server or the network before an answer came"},
		"no answer to it": {aborting(t, ""), nil, model.Cut, "closed by the server without an answer"},
		"headers only":    {aborting(t, " "), nil, model.Cut, "in the middle of the answer"},
		"half an answer":  {aborting(t, stream(content("a"))), nil, model.Cut, "in the middle of the answer"},
		// Closed or cut, depending on what the kernel saw first.
		"closed":            {"http://" + closed + "/v1", nil, model.Cut, "the connection was c"},
		"closed in TLS":     {"https://" + closed + "/v1", nil, model.Cut, ""},
		"silent in TLS":     {"https://" + silent + "/v1", &http.Client{Transport: &http.Transport{TLSHandshakeTimeout: 50 * time.Millisecond}}, model.Transient, "did not answer in TLS"},
		"not trusted":       {dated.URL, nil, model.Permanent, "SSL_CERT_FILE"},
		"another name":      {dated.URL, trusting(func(c *tls.Config) { c.ServerName = "other.example" }), model.Permanent, "other.example"},
		"expired":           {dated.URL, trusting(func(c *tls.Config) { c.Time = func() time.Time { return time.Now().AddDate(500, 0, 0) } }), model.Permanent, "clock is wrong"},
		"too old a TLS":     {demanding.URL, trusting(func(c *tls.Config) { c.MinVersion = tls.VersionTLS13 }), model.Permanent, "cannot agree on TLS"},
		"wants one from us": {demanding.URL, trusting(func(*tls.Config) {}), model.Permanent, "cannot agree on TLS"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := openai.New(openai.Options{Model: "m", BaseURL: test.url, HTTPClient: test.client, FirstTimeout: 20 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, err = c.Generate(t.Context(), hello, nil)
			if err == nil || model.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v of kind %q, want %q of kind %s", err, model.KindOf(err), test.says, test.kind)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Error("the error has more than one line")
			}
		})
	}
}

// TestSilentInTLS: the client's own limits, which know what they wait for, end
// the wait for a connection, every time.
func TestSilentInTLS(t *testing.T) {
	silent := listen(t, func(conn net.Conn) { t.Cleanup(func() { conn.Close() }) })
	for range 5 {
		c, err := openai.New(openai.Options{Model: "m", BaseURL: "https://" + silent + "/v1", ConnectTimeout: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Generate(t.Context(), hello, nil)
		if model.KindOf(err) != model.Transient || !strings.Contains(err.Error(), "did not answer in TLS") {
			t.Errorf("%v, want one that tells TLS", err)
		}
		_ = c.Close()
	}
}

// aborting is the address of a server that closes the connection after so much
// of a body; "" is before the headers.
func aborting(t *testing.T, body string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // what is left unread makes a reset of the end
		if body != "" {
			_, _ = io.WriteString(w, body)
			w.(http.Flusher).Flush()
		}
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// timeout is what a dialer gives up with.
type timeout struct{}

func (timeout) Error() string   { return "i/o timeout" }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }
