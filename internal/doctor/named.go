package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path"
	"sync/atomic"

	"github.com/belljar/belljar/internal/egress"
	"github.com/belljar/belljar/sandbox"
)

// A hostServer is a server on this machine that counts who reaches it.
type hostServer struct {
	address string
	reached atomic.Int64
	server  *http.Server
	served  chan struct{} // closed when it has ended
}

// serveOnHost starts a server on a free port of loopback. The caller closes it.
func serveOnHost() (*hostServer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting a server to be reached: %w", err)
	}
	s := &hostServer{address: listener.Addr().String(), served: make(chan struct{})}
	s.server = &http.Server{
		Handler:           http.HandlerFunc(func(http.ResponseWriter, *http.Request) { s.reached.Add(1) }),
		ReadHeaderTimeout: probeTimeout,
	}
	go func() {
		defer close(s.served)
		_ = s.server.Serve(listener) // ends with Close, which is its only error
	}()
	return s, nil
}

func (s *hostServer) close() {
	_ = s.server.Close()
	<-s.served
}

// namedScript asks the proxy for three targets, and looks for ways around it.
// It needs bash, which can connect by itself.
const namedScript = `ask() {
	(
		exec 3<>"/dev/tcp/127.0.0.1/${HTTP_PROXY##*:}" || exit
		printf 'GET http://%%s/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' "$2" >&3
		read -r _ code _ <&3 && echo "$1 $code"
	) 2>/dev/null
}
around() { (exec 3<>"/dev/$2/$3/$4") 2>/dev/null && echo "around $1"; }
ask named %[1]s:%[2]s
ask other %[3]s:%[4]s
ask metadata 169.254.169.254
around directly tcp %[1]s %[2]s
around 'by DNS' udp 192.0.2.1 53
around 'by DNS over TCP' tcp 192.0.2.1 53
true`

// checkNamedHosts proves in a sandbox of its own that the network mode allow
// reaches the host that was named, and nothing else. Both servers are on this
// machine, so no other network is needed.
func (e *examination) checkNamedHosts(ctx context.Context) (detail string, err error) {
	if shell := e.sandbox.Info().Shell; path.Base(shell) != "bash" {
		return "", fmt.Errorf("%w: the image has no bash, which the probe needs", errSkip)
	}
	named, err := serveOnHost()
	if err != nil {
		return "", err
	}
	defer named.close()
	other, err := serveOnHost()
	if err != nil {
		return "", err
	}
	defer other.close()
	rule, err := egress.ParseRule(named.address)
	if err != nil {
		return "", err
	}
	proxy := egress.New(egress.Options{Rules: []egress.Rule{rule}})
	defer func() { err = errors.Join(err, proxy.Close()) }()
	spec, err := e.further("named")
	if err != nil {
		return "", err
	}
	spec.Network, spec.Proxy = sandbox.NetworkAllow, proxy
	box, err := e.engine.Start(ctx, spec)
	switch {
	case errors.Is(err, sandbox.ErrUnsupported):
		return "", fmt.Errorf("%w: %w", errSkip, err)
	case err != nil:
		return "", err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	if err := askByProxy(ctx, box, named, other); err != nil {
		return "", err
	}
	return "the named host is reached; another one, the metadata address, DNS and the direct way are not", nil
}

// askByProxy runs the probe and judges what it says.
func askByProxy(ctx context.Context, box sandbox.Sandbox, named, other *hostServer) error {
	nameHost, namePort, err := net.SplitHostPort(named.address)
	if err != nil {
		return err
	}
	otherHost, otherPort, err := net.SplitHostPort(other.address)
	if err != nil {
		return err
	}
	facts, err := factsIn(ctx, box, fmt.Sprintf(namedScript, nameHost, namePort, otherHost, otherPort))
	if err != nil {
		return err
	}
	switch {
	case facts["around"] != "":
		return fmt.Errorf("there is a way around the proxy: %s", facts["around"])
	case other.reached.Load() > 0:
		return errors.New("a host that no rule names was reached")
	case facts["named"] != "200" || named.reached.Load() == 0:
		return fmt.Errorf("the named host was not reached; the answer was %q", facts["named"])
	case facts["other"] != "403" || facts["metadata"] != "403":
		return fmt.Errorf("what no rule names was not refused; the answers were %q and, for the metadata address, %q", facts["other"], facts["metadata"])
	default:
		return nil
	}
}
