package openai

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/provider"
)

// TestProxyRefusals: what a proxy says is not taken for the server's word.
func TestProxyRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		kind   model.Kind
		says   string
	}{
		"password":  {http.StatusProxyAuthRequired, model.Permanent, "user name and password into HTTPS_PROXY"},
		"forbidden": {http.StatusForbidden, model.Permanent, "NO_PROXY"},
		"no way":    {http.StatusBadGateway, model.Transient, "502 Bad Gateway"},
		"too many":  {http.StatusTooManyRequests, model.Transient, "429"},
	} {
		t.Run(name, func(t *testing.T) {
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodConnect {
					t.Errorf("the proxy got %s", r.Method)
				}
				w.WriteHeader(test.status)
			}))
			defer proxy.Close()
			address, err := url.Parse(proxy.URL)
			if err != nil {
				t.Fatal(err)
			}
			client := newHTTPClient(30 * time.Second)
			client.Transport.(*http.Transport).Proxy = http.ProxyURL(address)
			defer client.CloseIdleConnections()
			c, err := New(Options{Model: "m", BaseURL: "https://server.example/v1", HTTPClient: client})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Generate(t.Context(), model.Request{}, nil)
			if err == nil || model.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), "the proxy "+address.Host) {
				t.Errorf("%v of kind %q, want %q of kind %s", err, model.KindOf(err), test.says, test.kind)
			}
		})
	}
}

// TestProxyFaults: what is wrong with a proxy is not told of the server.
func TestProxyFaults(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	socks := listenOnce(t, func(conn net.Conn) {
		_, _ = io.ReadFull(conn, make([]byte, 3))
		_, _ = conn.Write([]byte{5, 0})
		_, _ = conn.Read(make([]byte, 256))
		_, _ = conn.Write([]byte{5, 4, 0, 1, 0, 0, 0, 0, 0, 0}) // host unreachable
	})
	for name, test := range map[string]struct {
		proxy string
		kind  model.Kind
		says  string
	}{
		"nothing listens": {"http://127.0.0.1:1", model.Transient, "connection refused"},
		"no such name":    {"http://proxy.invalid:3128", model.NoHost, "proxy.invalid"},
		"certificate":     {secure.URL, model.Permanent, "certificate"},
		"socks, no way":   {"socks5://" + socks, model.Transient, "host unreachable"},
	} {
		t.Run(name, func(t *testing.T) {
			address, err := url.Parse(test.proxy)
			if err != nil {
				t.Fatal(err)
			}
			client := newHTTPClient(30 * time.Second)
			transport := client.Transport.(*http.Transport)
			transport.Proxy = http.ProxyURL(address)
			dial := transport.DialContext
			transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
				if strings.HasPrefix(address, "proxy.invalid") { // no test asks the network's DNS
					return nil, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{Err: "no such host", Name: "proxy.invalid", IsNotFound: true}}
				}
				return dial(ctx, network, address)
			}
			defer client.CloseIdleConnections()
			c, err := New(Options{Model: "m", BaseURL: "https://server.example/v1", HTTPClient: client})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Generate(t.Context(), model.Request{}, nil)
			if model.KindOf(err) != test.kind || !strings.Contains(err.Error(), ": the proxy ") || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "base url") {
				t.Errorf("%v of kind %q, want %q of the proxy, of kind %s", err, model.KindOf(err), test.says, test.kind)
			}
		})
	}
}

// listenOnce serves one connection and closes it.
func listenOnce(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() { // ends with the listener or its one connection
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		serve(conn)
	}()
	return l.Addr().String()
}

// TestRedirects: a question that would become a plain GET is not sent on, and
// the error says where to.
func TestRedirects(t *testing.T) {
	const answer = `{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}`
	for name, test := range map[string]struct {
		status int
		to     string
		says   string // the error; "" is an answer
	}{
		"moved":              {http.StatusMovedPermanently, "/other", "check the base url: /other"},
		"found":              {http.StatusFound, "https://login.example/sk-canary-0123456789?next=1", "https://login.example/<secret-hidden>?…"},
		"see other":          {http.StatusSeeOther, "/other", "303 See Other"},
		"keeps the question": {http.StatusPermanentRedirect, "/other", ""},
		"in a circle":        {http.StatusTemporaryRedirect, "/v1/chat/completions", "307"},
	} {
		t.Run(name, func(t *testing.T) {
			requests := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests++
				if r.URL.Path == "/other" {
					if r.Method != http.MethodPost {
						t.Errorf("the other place got %s", r.Method)
					}
					_, _ = io.WriteString(w, answer)
					return
				}
				w.Header().Set("Location", test.to)
				w.WriteHeader(test.status)
			}))
			defer server.Close()
			c, err := New(Options{Model: "m", BaseURL: server.URL + "/v1", APIKey: "sk-canary-0123456789"})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			resp, err := c.Generate(t.Context(), model.Request{}, nil)
			switch {
			case test.says == "" && (err != nil || resp.Text != "Hello"):
				t.Errorf("answer %q and error %v", resp.Text, err)
			case test.says != "" && (err == nil || model.KindOf(err) != model.Permanent || !strings.Contains(err.Error(), test.says)):
				t.Errorf("%v of kind %q, want %q", err, model.KindOf(err), test.says)
			}
			if requests > maxRedirects+1 {
				t.Errorf("%d requests", requests)
			}
		})
	}
}

// TestRedirectToAnotherOrigin: neither the question nor a key is sent to a
// server that nobody named, and the error is the user's to mend, whoever gave
// the HTTP client.
func TestRedirectToAnotherOrigin(t *testing.T) {
	strangers := 0
	stranger := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strangers++ }))
	defer stranger.Close()
	azure, err := provider.Named("azure") // its key is in a header that net/http does not know for one
	if err != nil {
		t.Fatal(err)
	}
	for name, client := range map[string]*http.Client{"our client": nil, "the caller's": {}} {
		for _, status := range []int{http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
			for _, to := range []string{stranger.URL + "/v1/chat/completions", "https://{host}/v1/chat/completions"} {
				t.Run(name, func(t *testing.T) {
					server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						w.Header().Set("Location", strings.ReplaceAll(to, "{host}", r.Host))
						w.WriteHeader(status)
					}))
					defer server.Close()
					where := strings.ReplaceAll(to, "{host}", strings.TrimPrefix(server.URL, "http://"))
					c, err := New(Options{Model: "m", BaseURL: server.URL + "/v1", APIKey: "sk-canary", Provider: azure, HTTPClient: client})
					if err != nil {
						t.Fatal(err)
					}
					defer c.Close()
					_, err = c.Generate(t.Context(), model.Request{}, nil)
					if model.KindOf(err) != model.Permanent || !strings.Contains(err.Error(), "check the base url: "+where) {
						t.Errorf("%v of kind %q, want a permanent one that tells %s", err, model.KindOf(err), where)
					}
				})
			}
		}
	}
	if strangers > 0 {
		t.Errorf("the other server was asked %d times", strangers)
	}
}
