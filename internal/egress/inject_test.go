package egress_test

import (
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/belljar/belljar/internal/egress"
)

// token is what must stay with the server.
const token = "Bearer sk-0123456789/abcdef"

func lookupEnv(name string) (string, bool) {
	value, ok := map[string]string{"AUTH": token, "SHORT": "abc", "LINES": "0123456789\nX: y", "BLANK": " 0123456789"}[name]
	return value, ok
}

// injected starts a TLS server and a proxy that adds the token for it. The
// address is the one that a client inside uses.
func injected(t *testing.T, handler http.HandlerFunc) (p *running, address string) {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	address = server.Listener.Addr().String()
	injection, err := egress.ParseInjection(address+"=Authorization:AUTH", lookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return serve(t, egress.Options{Injections: []egress.Injection{injection}, Roots: roots}, nil), address
}

func TestParseInjection(t *testing.T) {
	for _, test := range []struct{ text, want, words string }{
		{"api.example.org=authorization:AUTH", "api.example.org=Authorization", ""},
		{"API.example.org:8443=X-Api-Key:AUTH", "api.example.org:8443=X-Api-Key", ""},
		{"api.example.org=Authorization", "", "HOST=HEADER:VARIABLE"},
		{"api.example.org", "", "HOST=HEADER:VARIABLE"},
		{"*.example.org=Authorization:AUTH", "", "no host name"},
		{"https://example.org=Authorization:AUTH", "", "no"},
		{"a.example=Host:AUTH", "", "no header"},
		{"a.example=Accept-Encoding:AUTH", "", "no header"},
		{"a.example=A B:AUTH", "", "no header"},
		{"a.example=:AUTH", "", "no header"},
		{"a.example=X:NONE", "", "NONE is not set"},
		{"a.example=X:SHORT", "", "less than 8 bytes"},
		{"a.example=X:LINES", "", "control characters"},
		{"a.example=X:BLANK", "", "spaces"},
	} {
		got, err := egress.ParseInjection(test.text, lookupEnv)
		switch {
		case test.words != "" && (err == nil || !strings.Contains(err.Error(), test.words) || strings.Contains(err.Error(), "0123")):
			t.Errorf("%q: %v, want an error that says %q and no value", test.text, err, test.words)
		case test.words == "" && (err != nil || got.String() != test.want):
			t.Errorf("%q = %v, %v, want %s", test.text, got, err, test.want)
		}
	}
}

func TestInject(t *testing.T) {
	p, address := injected(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header["Authorization"]; len(got) != 1 || got[0] != token {
			t.Errorf("Authorization = %q, want the token alone", got)
		}
		if r.TLS == nil || r.Header.Get("Accept-Encoding") != "identity" || r.Header.Get("Range") != "" {
			t.Errorf("TLS %v, headers %v", r.TLS != nil, r.Header)
		}
		w.Header().Set("X-Echo", r.Header.Get("Authorization"))
		body := token + strings.TrimPrefix(token, "Bearer ") + "xxx"
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = io.WriteString(w, body)
	})
	code, body := p.ask(t, "GET http://"+address+"/x HTTP/1.1\r\nHost: evil.example\r\nAuthorization: mine\r\nauthorization: mine too\r\n"+
		"Accept-Encoding: gzip\r\nRange: bytes=0-9\r\nConnection: close, Authorization\r\n\r\n")
	if code != 200 || !strings.HasPrefix(body, "<secret-hidden><secret-hidden>xxx") {
		t.Errorf("got %d %q", code, body)
	}
	resp, err := p.client(t).Get("http://" + address + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil || strings.Contains(string(all)+fmt.Sprint(resp.Header, resp.Trailer), "sk-0123456789") || resp.Header.Get("X-Echo") != "<secret-hidden>" {
		t.Errorf("got %q with %v, %v", all, resp.Header, err)
	}
	for _, decision := range p.all() {
		if !decision.Allowed || decision.Rule != address {
			t.Errorf("decision %+v, want it allowed by %s", decision, address)
		}
	}
}

// TestInjectInPieces: a secret that comes in pieces is hidden all the same.
func TestInjectInPieces(t *testing.T) {
	p, address := injected(t, func(w http.ResponseWriter, r *http.Request) {
		for _, piece := range strings.Split(r.Header.Get("Authorization")+" end", "") {
			_, _ = io.WriteString(w, piece)
			_ = http.NewResponseController(w).Flush() // a client that is gone shows on its side
		}
	})
	if code, body := p.get(t, "http://"+address+"/"); code != 200 || body != "<secret-hidden> end" {
		t.Errorf("got %d %q", code, body)
	}
}

// TestBeginsAtOnce: the head of an answer does not wait for its body.
func TestBeginsAtOnce(t *testing.T) {
	ended := make(chan struct{})
	handler := func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush() // a client that is gone shows below
		select {
		case <-ended:
		case <-r.Context().Done():
		}
	}
	address, _ := newServer(t, handler)
	p := serve(t, egress.Options{Rules: rules(t, address)}, nil)
	resp, err := p.client(t).Get("http://" + address + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	close(ended)
	if body, err := io.ReadAll(resp.Body); err != nil || len(body) != 0 {
		t.Errorf("got %q, %v", body, err)
	}
}

// TestInjectGoesNowhereElse: a redirect is handed back, and the next request
// has no secret unless it is for the same host.
func TestInjectGoesNowhereElse(t *testing.T) {
	var seen string
	other, _ := newServer(t, func(_ http.ResponseWriter, r *http.Request) { seen = fmt.Sprint(r.Header) })
	p, address := injected(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+other+"/?t="+r.Header.Get("Authorization"), http.StatusFound)
	})
	resp, err := p.client(t).Get("http://" + address + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if to := resp.Header.Get("Location"); resp.StatusCode != 302 || !strings.HasPrefix(to, "http://"+other+"/") || strings.Contains(to, "sk-") {
		t.Errorf("got %d to %q", resp.StatusCode, to)
	}
	if code, _ := p.get(t, "http://"+other+"/"); code != 403 || seen != "" {
		t.Errorf("the other server: %d, it saw %q", code, seen)
	}
}

// TestInjectRefuses: an answer that cannot be searched is not passed on, and a
// server that cannot prove who it is gets no secret.
func TestInjectRefuses(t *testing.T) {
	p, address := injected(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		zipped := gzip.NewWriter(w)
		_, _ = io.WriteString(zipped, r.Header.Get("Authorization"))
		_ = zipped.Close()
	})
	if code, body := p.get(t, "http://"+address+"/"); code != 502 || !strings.Contains(body, "compressed") {
		t.Errorf("compressed: %d %q", code, body)
	}
	stranger := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a server without a known certificate got a request")
	}))
	defer stranger.Close()
	injection, err := egress.ParseInjection(stranger.Listener.Addr().String()+"=Authorization:AUTH", lookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	q := serve(t, egress.Options{Injections: []egress.Injection{injection}}, nil)
	if code, body := q.get(t, "http://"+stranger.Listener.Addr().String()+"/"); code != 502 || !strings.Contains(body, "certificate") {
		t.Errorf("a stranger: %d %q", code, body)
	}
}

// TestInjectTunnel: a tunnel to the host is nobody's business.
func TestInjectTunnel(t *testing.T) {
	p, address := injected(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header["Authorization"]) })
	client := p.client(t)
	// The test is about who speaks TLS, not with whom.
	client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	resp, err := client.Get("https://" + address + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "[]" {
		t.Errorf("got %q, %v", body, err)
	}
}
