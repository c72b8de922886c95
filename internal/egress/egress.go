// Package egress is the one way out of a sandbox that may reach named hosts
// and nothing else: an HTTP proxy that decides by rules.
//
// A client asks either for a tunnel (CONNECT), which passes bytes as they are,
// so that TLS is never looked into, or for a page over plain HTTP. The words:
//
//   - A rule allows one host, or all below a name.
//   - A decision says whether a host and port may be reached, and by which
//     rule. It is told before a byte goes out.
//   - An injection adds a header with a secret to requests for one host, over
//     TLS that the proxy speaks itself, and hides the secret in the answer.
//
// A name is resolved here, and what is dialed is the address that was checked,
// never the name again: an answer of DNS that changes in between changes
// nothing. Private, reserved and metadata addresses are blocked unless a rule
// names them.
//
// What is not looked at: which of the sites behind one address a client speaks
// to inside TLS.
package egress

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Bounds of what a client inside may take.
const (
	// MaxConns is how many connections are served at once; more wait.
	MaxConns = 256

	headerTime  = 30 * time.Second
	idleTime    = 10 * time.Minute // without a byte in either direction
	lingerTime  = time.Minute      // the same, once one side has ended
	maxHeader   = 64 << 10
	connectTime = 30 * time.Second
)

// Options say what a Proxy allows. They are copied; the zero value allows
// nothing.
type Options struct {
	// Rules allow hosts.
	Rules []Rule
	// Injections add a header for their host, which is thereby allowed.
	Injections []Injection
	// Decided is told each decision before it takes effect; nil discards. An
	// error denies. It is called by several goroutines at once.
	Decided func(Decision) error
	// Failed is told of each connection that was allowed and could not be
	// made, with the reason in one line; nil discards. What a client gave up
	// itself is none. It is called by several goroutines at once.
	Failed func(host string, port int, reason string)
	// Ask is asked about a host that no rule allows: true allows it and the
	// port for as long as the proxy lives. One question is asked at a time,
	// and none twice. The context ends with the proxy. Nil denies.
	Ask func(ctx context.Context, host string, port int) bool
	// Roots verify the servers of injections; nil is the system's.
	Roots *x509.CertPool
}

// A Proxy decides and passes on. The caller closes it. All methods are safe
// for concurrent use.
type Proxy struct {
	opts   Options
	server *http.Server
	plain  *http.Transport // for requests over plain HTTP
	secure *http.Transport // for injections
	lookup func(ctx context.Context, name string) ([]netip.Addr, error)
	local  func() []netip.Prefix // this machine's own networks

	lifetime context.Context // ends with Close
	stop     context.CancelFunc
	running  sync.WaitGroup // handlers, tunnels and questions

	mu     sync.Mutex
	closed bool
	asked  map[question]*answer
	asking chan struct{} // holds a place for the one question under way
}

// New makes a proxy.
func New(opts Options) *Proxy {
	opts.Rules = append([]Rule(nil), opts.Rules...)
	opts.Injections = append([]Injection(nil), opts.Injections...)
	for _, injection := range opts.Injections {
		opts.Rules = append(opts.Rules, injection.rules()...)
	}
	p := &Proxy{
		opts: opts, asked: map[question]*answer{}, asking: make(chan struct{}, 1), local: localNetworks,
		lookup: func(ctx context.Context, name string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		},
	}
	p.lifetime, p.stop = context.WithCancel(context.Background())
	p.plain = p.transport()
	p.secure = p.transport()
	p.secure.TLSClientConfig = tlsConfig(opts.Roots)
	p.server = &http.Server{
		Handler: p, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: discardLog(),
	}
	return p
}

// Serve takes connections until the listener or the proxy is closed, and
// closes the listener. After Close it returns nil at once.
func (p *Proxy) Serve(l net.Listener) error {
	err := p.server.Serve(limit(l, MaxConns))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close ends every connection and waits for their goroutines. It may be called
// more than once.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.stop()
	err := p.server.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil // whose listener it is has closed it just now
	}
	p.running.Wait()
	p.plain.CloseIdleConnections()
	p.secure.CloseIdleConnections()
	return err
}

// enter counts in what outlives its handler or must have ended with Close.
func (p *Proxy) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.running.Add(1)
	return true
}

// ServeHTTP serves one request of a client inside.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.enter() {
		return
	}
	defer p.running.Done()
	switch {
	case r.Method == http.MethodConnect:
		p.tunnel(w, r)
	case r.URL.IsAbs():
		p.forward(w, r)
	default:
		refuse(w, http.StatusBadRequest, "this is a proxy: ask it for a whole address, such as http://example.org/")
	}
}
