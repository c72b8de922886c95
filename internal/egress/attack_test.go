package egress_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/belljar/belljar/internal/egress"
)

// TestTargets asks for one host in words that somebody else might read as
// another one. What is decided about is always what would be connected to, so
// nothing is reached, and each decision names the host that it is about.
func TestTargets(t *testing.T) {
	p := serve(t, egress.Options{Rules: rules(t, "good.example", "xn--bcher-kva.example")},
		map[string]string{"good.example": "10.0.0.1", "xn--bcher-kva.example": "10.0.0.1"})
	for _, test := range []struct {
		name, request string
		code          int
		host          string // of the decision; "" is none
	}{
		{"another Host", "GET http://evil.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n", 403, "evil.example"},
		{"a tunnel with another Host", "CONNECT evil.example:443 HTTP/1.1\r\nHost: good.example:443\r\n\r\n", 403, "evil.example"},
		{"the good one as a user", "GET http://good.example@evil.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n", 403, "evil.example"},
		{"with a password", "GET http://good.example:80@evil.example/ HTTP/1.1\r\nHost: x\r\n\r\n", 403, "evil.example"},
		{"a tunnel with a user", "CONNECT good.example:443@evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403, "evil.example"},
		{"a fragment", "GET http://evil.example#good.example/ HTTP/1.1\r\nHost: x\r\n\r\n", 400, ""},
		{"a backslash", "GET http://evil.example\\.good.example/ HTTP/1.1\r\nHost: x\r\n\r\n", 400, ""},
		{"a percent sign", "GET http://evil.example%2fgood.example/ HTTP/1.1\r\nHost: x\r\n\r\n", 400, ""},
		{"an escaped letter", "GET http://goo%64.example/ HTTP/1.1\r\nHost: x\r\n\r\n", 400, ""},
		{"an escaped zero", "GET http://good.example%00.evil.example/ HTTP/1.1\r\nHost: x\r\n\r\n", 400, ""},
		{"upper case and a dot", "GET http://GOOD.Example./ HTTP/1.1\r\nHost: x\r\n\r\n", 403, "good.example"},
		{"punycode", "CONNECT XN--BCHER-KVA.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403, "xn--bcher-kva.example"},
		{"its letters", "CONNECT bücher.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403, "xn--bcher-kva.example"},
		{"letters that look alike", "CONNECT gооd.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403, "xn--gd-fmca.example"},
		{"wide letters", "CONNECT ｇood.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403, "good.example"},
		{"a wide dot", "CONNECT evil.good。example:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403, "evil.good.example"},
		{"a wide slash", "CONNECT evil.example／good.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", 400, `evil.example\uff0fgood.example:443`},
		{"two ports", "CONNECT good.example:443:80 HTTP/1.1\r\nHost: x\r\n\r\n", 400, ""},
		{"a port with zeros", "CONNECT good.example:00443 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "good.example:00443"},
		{"a port too large", "CONNECT good.example:65979 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "good.example:65979"},
		{"an address of eight digits", "CONNECT 0x7f000001:443 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "0x7f000001:443"},
		{"an octal one", "CONNECT 0177.0.0.1:443 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "0177.0.0.1:443"},
		{"in wide digits", "CONNECT １２７.0.0.1:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403, "127.0.0.1"},
		{"with a dot", "CONNECT 127.0.0.1.:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403, "127.0.0.1"},
		{"inside IPv6", "CONNECT [::ffff:7f00:1]:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403, "127.0.0.1"},
		{"with a zone", "CONNECT [fe80::1%25eth0]:443 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "[fe80::1%eth0]:443"},
		{"a long name", "CONNECT " + strings.Repeat("a.", 20_000) + "example:443 HTTP/1.1\r\nHost: x\r\n\r\n", 400, strings.Repeat("a.", 126) + "a"},
		{"a line end in the target", "GET http://good.example/\r\nX: y HTTP/1.1\r\nHost: x\r\n\r\n", 400, ""},
		{"a bare CR in a header", "GET http://good.example/ HTTP/1.1\r\nHost: x\r\nX: a\rHost: evil\r\n\r\n", 400, ""},
		{"a header with a space", "GET http://good.example/ HTTP/1.1\r\nHost: x\r\nContent-Length : 3\r\n\r\n", 400, ""},
		{"two lengths", "POST http://good.example/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400, ""},
		{"an unknown coding", "POST http://good.example/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501, ""},
		{"no Host", "GET http://evil.example/ HTTP/1.0\r\n\r\n", 403, "evil.example"},
		{"HTTP/2 at once", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := len(p.all())
			code, body := p.ask(t, test.request)
			if code != test.code {
				t.Errorf("got %d %.200q, want %d", code, body, test.code)
			}
			host := ""
			for _, decision := range p.all()[before:] {
				host = decision.Host
				if decision.Allowed {
					t.Errorf("allowed: %+v", decision)
				}
			}
			if host != test.host {
				t.Errorf("decided about %q, want %q", host, test.host)
			}
		})
	}
}

// TestRebinding: a name is looked up once for a connection, so an answer that
// changes after the check changes nothing; and again for the next request.
func TestRebinding(t *testing.T) {
	address, port := newServer(t, echo)
	rule, err := egress.ParsePrivate("moving.example:" + port)
	if err != nil {
		t.Fatal(err)
	}
	p := serve(t, egress.Options{Rules: []egress.Rule{rule}}, nil)
	var lookups atomic.Int64
	egress.SetLookup(p.Proxy, func(context.Context, string) ([]netip.Addr, error) {
		if lookups.Add(1) == 1 {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("169.254.169.254")}, nil
	})
	if code, body := p.get(t, "http://moving.example:"+port+"/"); code != 200 || lookups.Load() != 1 {
		t.Errorf("%s: %d %q after %d lookups, want 200 after 1", address, code, body, lookups.Load())
	}
	for _, request := range []string{"GET http://moving.example:" + port + "/", "CONNECT moving.example:" + port} {
		if code, body := p.ask(t, request+" HTTP/1.1\r\nHost: x\r\n\r\n"); code != 403 || !strings.Contains(body, "169.254.169.254") {
			t.Errorf("%s after the answer changed: %d %q", request, code, body)
		}
	}
}

// TestOwnAddresses: what counts as public by its number, and is this machine or
// its neighbour, is reached by a name only where that may be private.
func TestOwnAddresses(t *testing.T) {
	p := serve(t, egress.Options{Rules: rules(t, "own.example", "beside.example")}, map[string]string{
		"own.example": "8.8.4.4", "beside.example": "2606:4700:0:1::99",
	})
	egress.SetLocal(p.Proxy, netip.MustParsePrefix("8.8.4.4/32"), netip.MustParsePrefix("2606:4700:0:1::/64"))
	for _, name := range []string{"own.example", "beside.example"} {
		if code, body := p.get(t, "http://"+name+"/"); code != 403 || !strings.Contains(body, "private address") || !strings.Contains(body, "--allow-private-host "+name) {
			t.Errorf("%s: %d %q", name, code, body)
		}
	}
}

// TestLocalNetworks: this machine's addresses are among its networks.
func TestLocalNetworks(t *testing.T) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	list := egress.LocalNetworks()
	for _, addr := range addrs {
		prefix := netip.MustParsePrefix(addr.String())
		found := false
		for _, local := range list {
			found = found || local.Contains(prefix.Addr().Unmap())
			if local.Addr().Is4() && local.Bits() != 32 {
				t.Errorf("%v stands for all neighbours", local)
			}
		}
		if !found {
			t.Errorf("%v is in none of %v", addr, list)
		}
	}
}

func TestLocalNetwork(t *testing.T) {
	for _, tc := range []struct{ name, addr, want string }{
		{"IPv4", "203.0.114.7/24", "203.0.114.7/32"},
		{"a network of neighbours", "2a00:1:2:3::7/64", "2a00:1:2:3::/64"},
		{"a whole site", "2a00:1:2:3::7/56", "2a00:1:2::/56"},
		{"too large for neighbours", "2a00:1:2:3::7/32", "2a00:1:2:3::7/128"},
		{"an address by DHCP", "2a00:1:2:3::7/128", "2a00:1:2:3::/64"},
		{"a network smaller than a link", "2a00:1:2:3::7/80", "2a00:1:2:3::/64"},
		{"loopback", "::1/128", "::1/128"},
		{"link-local", "fe80::7/128", "fe80::7/128"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ip, ipNet, err := net.ParseCIDR(tc.addr)
			if err != nil {
				t.Fatal(err)
			}
			ipNet.IP = ip
			if got, ok := egress.LocalNetwork(ipNet); !ok || got.String() != tc.want {
				t.Errorf("got %v, %v, want %s", got, ok, tc.want)
			}
		})
	}
}

// TestFraming: a body is passed on in framing of the proxy's own, so that what
// a client says twice about its length is not passed on, and what comes after
// is a request like any other.
func TestFraming(t *testing.T) {
	var requests atomic.Int64
	address, _ := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		echo(w, r)
	})
	p := serve(t, egress.Options{Rules: rules(t, address)}, nil)
	inner := "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"
	code, body := p.ask(t, "POST http://"+address+"/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n"+inner)
	if code != 200 || !strings.Contains(body, " body=\n") || strings.Contains(body, "evil") {
		t.Errorf("two framings: %d %q", code, body)
	}
	conn := p.dial(t)
	if _, err := io.WriteString(conn, "POST http://"+address+"/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"+inner+
		"GET http://"+address+"/last HTTP/1.0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(conn)
	if text := string(all); err != nil || !strings.Contains(text, "body=abc") || !strings.Contains(text, "does not allow evil.example") {
		t.Errorf("one after another: %q, %v", text, err)
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("the server got %d requests, want 2: a denied one ends the connection", n)
	}
}

// TestOldClient: HTTP/1.0 works, with nothing that it does not know.
func TestOldClient(t *testing.T) {
	address, _ := newServer(t, echo)
	p := serve(t, egress.Options{Rules: rules(t, address)}, nil)
	conn := p.dial(t)
	if _, err := io.WriteString(conn, "GET http://"+address+"/ HTTP/1.0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(conn)
	if text := string(all); err != nil || !strings.HasPrefix(text, "HTTP/1.0 200 ") || strings.Contains(strings.ToLower(text), "chunked") || !strings.Contains(text, "host="+address) {
		t.Errorf("got %q, %v", text, err)
	}
}

// TestUpgrade: a change of the protocol goes by a tunnel and by nothing else.
func TestUpgrade(t *testing.T) {
	var asked atomic.Bool
	address, _ := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Header.Get("Upgrade") != "" || strings.Contains(strings.ToLower(r.Header.Get("Connection")), "upgrade"))
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Connection", "Upgrade")
		w.WriteHeader(http.StatusSwitchingProtocols)
	})
	p := serve(t, egress.Options{Rules: rules(t, address)}, nil)
	code, body := p.ask(t, "GET http://"+address+"/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	if code != 502 || !strings.Contains(body, "CONNECT") || asked.Load() {
		t.Errorf("got %d %q; the server was asked for a change: %v", code, body, asked.Load())
	}
}
