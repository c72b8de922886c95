package docker_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/belljar/belljar/internal/egress"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/docker"
)

// A way is a sandbox with a way out to a server of the test's own.
type way struct {
	sandbox.Sandbox
	url     string // of the server, as it is allowed
	secure  string // the same over TLS, with a certificate that nobody knows
	session string
}

// openWay starts a sandbox that may reach the test's server and nothing else.
// The server is on this machine, so it is allowed by its literal address, and
// clients inside are told not to take it for their own loopback.
func openWay(t *testing.T, engine *docker.Engine, handler http.HandlerFunc) *way {
	t.Helper()
	return openWayWith(t, engine, handler, func(*sandbox.Spec) {})
}

// openWayWith does the same with a spec that the test has changed.
func openWayWith(t *testing.T, engine *docker.Engine, handler http.HandlerFunc, change func(*sandbox.Spec)) *way {
	t.Helper()
	plain, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	var rules []egress.Rule
	for _, server := range []*httptest.Server{plain, secure} {
		rule, err := egress.ParseRule(server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, rule)
	}
	proxy := egress.New(egress.Options{Rules: rules})
	t.Cleanup(func() {
		if err := proxy.Close(); err != nil {
			t.Errorf("closing the proxy: %v", err)
		}
	})
	spec := newSpec(t, os.Getuid(), os.Getgid())
	spec.Network, spec.Proxy, spec.Session = sandbox.NetworkAllow, proxy, newSession()
	spec.Env = []string{"NO_PROXY=", "no_proxy="}
	change(&spec)
	return &way{start(t, engine, spec), plain.URL, secure.URL, spec.Session}
}

// forwarder finds the other container of a sandbox.
func (o observer) forwarder(t *testing.T, w *way) string {
	t.Helper()
	list := o.labeled(t, "belljar.session="+w.session)
	list = slices.DeleteFunc(list, func(c container.Summary) bool { return c.ID == w.Info().ID })
	if len(list) != 1 {
		t.Fatalf("%d containers beside the sandbox, want 1", len(list))
	}
	return list[0].ID
}

func TestOutlet(t *testing.T) {
	engine := connect(t)
	seen := observe(t, engine)
	large := make([]byte, 32<<20)
	_, _ = rand.Read(large) // never fails, see crypto/rand
	w := openWay(t, engine, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/large":
			_, _ = w.Write(large) // a client that is gone shows on its side
		case "/echo":
			_, _ = io.Copy(w, r.Body)
		default:
			fmt.Fprintln(w, "hello")
		}
	})
	other := seen.forwarder(t, w)

	t.Run("Allowed", func(t *testing.T) {
		if got := script(t, w, "curl -sS "+w.url+" && curl -sSk "+w.secure); got != "hello\nhello\n" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("Denied", func(t *testing.T) {
		got := script(t, w, "curl -s -w '%{http_code}\n' http://example.org/")
		if !strings.Contains(got, "--allow-host example.org") || !strings.HasSuffix(got, "403\n") {
			t.Errorf("plain: %q", got)
		}
		got = script(t, w, "curl -sS https://example.org/ 2>&1; test $? -eq 56 && python3 -c '\nimport urllib.request\nurllib.request.urlopen(\"https://example.org/\")' 2>&1 | tail -1")
		if !strings.Contains(got, "403") || !strings.Contains(got, "--allow-host example.org") {
			t.Errorf("tunnel: %q", got)
		}
		for _, target := range []string{"http://169.254.169.254/", "http://127.0.0.1:22/", "http://0x7f.1/", "http://[::1]/"} {
			if got := script(t, w, "curl -s -g -o /dev/null -w '%{http_code}' "+target); got != "403" && got != "400" {
				t.Errorf("%s: %q", target, got)
			}
		}
	})
	t.Run("Large", func(t *testing.T) {
		sum := sha256.Sum256(large)
		want := hex.EncodeToString(sum[:])
		for _, url := range []string{w.url, w.secure} {
			got := script(t, w, "curl -sSk "+url+"/large | tee /tmp/large | sha256sum && curl -sSk --data-binary @/tmp/large "+url+"/echo | sha256sum")
			if strings.Count(got, want) != 2 {
				t.Errorf("%s: %q, want %s twice", url, got, want)
			}
		}
	})
	t.Run("Concurrent", func(t *testing.T) {
		got := script(t, w, "for i in $(seq 40); do curl -sS "+w.url+" & done; wait")
		if got != strings.Repeat("hello\n", 40) {
			t.Errorf("got %q", got)
		}
	})
	t.Run("NoOtherWay", func(t *testing.T) { testNoOtherWay(t, w) })
	t.Run("Forwarder", func(t *testing.T) { testForwarder(t, seen, w, other) })

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if seen.exists(t, other) {
		t.Error("the forwarder is still there after Close")
	}
}

// testNoOtherWay looks for a way around the proxy.
func testNoOtherWay(t *testing.T, w *way) {
	address := strings.TrimPrefix(w.url, "http://")
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	if got := script(t, w, "ls /sys/class/net; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '; cat /proc/net/route | tail -n +2"); got != "lo\nlo\n" {
		t.Errorf("interfaces and routes: %q, want lo alone", got)
	}
	got := script(t, w, fmt.Sprintf(`python3 - <<'END'
import socket
def tried(name, what):
    try:
        what()
        print(name, "worked")
    except OSError:
        pass
def udp(host, port):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(2)
    s.sendto(b"x", (host, port))
    s.recv(10)
tried("direct", lambda: socket.create_connection((%q, %s), 2))
for host in ("192.0.2.1", "1.1.1.1", "172.17.0.1", "169.254.169.254"):
    tried("tcp " + host, lambda: socket.create_connection((host, 80), 2))
    tried("udp " + host, lambda: udp(host, 53))
tried("six", lambda: socket.create_connection(("2606:4700::1111", 443), 2))
tried("dns", lambda: socket.getaddrinfo("example.org", 80))
tried("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
tried("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
END
curl -sS --noproxy '*' --max-time 5 %s >/dev/null 2>&1 && echo curl worked
true`, host, port, w.url))
	if got != "" {
		t.Errorf("a way out: %q", got)
	}
}

// testForwarder looks at the container that passes connections on.
func testForwarder(t *testing.T, seen observer, w *way, id string) {
	found := seen.inspect(t, id)
	host := found.HostConfig
	for name, ok := range map[string]bool{
		"read-only root":           host.ReadonlyRootfs,
		"all capabilities dropped": slices.Equal(host.CapDrop, []string{"ALL"}) && len(host.CapAdd) == 0 && !host.Privileged,
		"no new privileges":        len(host.SecurityOpt) == 2 && host.SecurityOpt[0] == "no-new-privileges" && strings.HasPrefix(host.SecurityOpt[1], "seccomp={"),
		"the sandbox's network":    string(host.NetworkMode) == "container:"+w.Info().ID,
		"limits":                   host.Memory > 0 && host.Memory == host.MemorySwap && host.PidsLimit != nil && *host.PidsLimit > 0,
		"processes of its own":     host.PidMode == "" && !host.IpcMode.IsContainer(),
		"another user":             found.Config.User != "" && found.Config.User != w.Info().User && !strings.HasPrefix(found.Config.User, "0"),
		"a lease":                  found.Config.OpenStdin && found.Config.StdinOnce,
		"removed by the engine":    host.AutoRemove,
	} {
		if !ok {
			t.Errorf("not so: %s; the engine says %+v", name, host)
		}
	}
	for _, m := range found.Mounts {
		if m.RW {
			t.Errorf("%s can be written to", m.Destination)
		}
	}
	// The pattern does not find itself.
	if got := script(t, w, "grep -l 'forwar[d]' /proc/[0-9]*/cmdline 2>/dev/null; true"); got != "" {
		t.Errorf("the sandbox sees the forwarder: %q", got)
	}
	// However that command ends: it kills what watches over it as well.
	_ = execute(t, w, sandbox.Command{Script: "kill -KILL -1"})
	if got := script(t, w, "curl -sS "+w.url); got != "hello\n" {
		t.Errorf("after killing all that can be killed: %q", got)
	}
}

// TestOutletTunnels closes tunnels from either side.
func TestOutletTunnels(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	address := listener.Addr().String()
	rule, err := egress.ParseRule(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := egress.New(egress.Options{Rules: []egress.Rule{rule}})
	defer proxy.Close()
	spec := newSpec(t, os.Getuid(), os.Getgid())
	spec.Network, spec.Proxy = sandbox.NetworkAllow, proxy
	sb := start(t, connect(t), spec)
	const client = `exec 3<>/dev/tcp/127.0.0.1/${HTTP_PROXY##*:}
printf 'CONNECT %[1]s HTTP/1.1\r\nHost: %[1]s\r\n\r\n' >&3
read -r _ code _ <&3; while read -r line <&3 && test "$line" != $'\r'; do :; done
`
	for _, test := range []struct {
		name, script, want string
		server             func(net.Conn) string
	}{
		{"by the client", "printf ping >&3; exec 3>&-; echo $code", "200\n", func(conn net.Conn) string {
			all, err := io.ReadAll(conn)
			return fmt.Sprint(string(all), err)
		}},
		{"by the server", "cat <&3; echo $code", "pong200\n", func(conn net.Conn) string {
			_, err := io.WriteString(conn, "pong")
			return fmt.Sprint("ping", err)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := make(chan string, 1) // one answer, so the sender never waits
			go func() {
				conn, err := listener.Accept()
				if err != nil {
					got <- err.Error()
					return
				}
				defer conn.Close()
				got <- test.server(conn)
			}()
			if out := script(t, sb, fmt.Sprintf(client, address)+test.script); out != test.want {
				t.Errorf("the client got %q, want %q", out, test.want)
			}
			within(t, hang, "the server's side", func() {
				if text := <-got; text != "ping<nil>" {
					t.Errorf("the server got %q", text)
				}
			})
		})
	}
}

// TestOutletRefused asks for what cannot be kept.
func TestOutletRefused(t *testing.T) {
	engine := connect(t)
	proxy := egress.New(egress.Options{})
	defer proxy.Close()
	for _, test := range []struct {
		name  string
		spec  func(*sandbox.Spec)
		words string
	}{
		{"no proxy", func(s *sandbox.Spec) { s.Network = sandbox.NetworkAllow }, "needs a proxy"},
		{"a proxy for nothing", func(s *sandbox.Spec) { s.Proxy = proxy }, "allow only"},
		{"a proxy beside the bridge", func(s *sandbox.Spec) { s.Network, s.Proxy = sandbox.NetworkBridge, proxy }, "allow only"},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := newSpec(t, os.Getuid(), os.Getgid())
			test.spec(&spec)
			sb, err := engine.Start(t.Context(), spec)
			if err == nil {
				t.Fatalf("a sandbox was started; closing it: %v", sb.Close())
			}
			if !strings.Contains(err.Error(), test.words) {
				t.Errorf("error = %q, want %q in it", err, test.words)
			}
		})
	}
}

// TestOutletCloses: nothing is left of several, whatever goes on in them.
func TestOutletCloses(t *testing.T) {
	engine := connect(t)
	seen := observe(t, engine)
	hold := make(chan struct{})
	var once sync.Once
	release := func() { once.Do(func() { close(hold) }) }
	t.Cleanup(release)
	w := openWay(t, engine, func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	})
	wait := background(t, w, sandbox.Command{Script: "curl -sNv " + w.url + " 2>&1 | { grep -q '^< HTTP'; echo ready; cat; }"})
	other := seen.forwarder(t, w)
	within(t, hang, "Close", func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	if got := wait(); got.err == nil {
		t.Errorf("the command ended %s, want the end of the sandbox", describe(got.result))
	}
	for _, id := range []string{other, w.Info().ID} {
		if seen.exists(t, id) {
			t.Errorf("container %.12s is still there", id)
		}
	}
}
