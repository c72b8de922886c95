package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// resolve returns the addresses of a host.
func (p *Proxy) resolve(ctx context.Context, h host) ([]netip.Addr, error) {
	if h.addr.IsValid() {
		return []netip.Addr{h.addr}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	name := h.name
	if strings.Contains(name, ".") {
		name += "." // as it is, without the search domains of this machine
	}
	addrs, err := p.lookup(ctx, name)
	if err == nil && len(addrs) == 0 {
		err = errors.New("it has no address")
	}
	var answer *net.DNSError
	if errors.As(err, &answer) {
		err = errors.New(answer.Err) // which server said so is not for the sandbox to know
	}
	if err != nil {
		return nil, fmt.Errorf("looking up %s: %w", h.name, err)
	}
	for i, addr := range addrs {
		addrs[i] = addr.Unmap()
	}
	return addrs, nil
}

// dial connects to the first address of a route that answers.
func (r route) dial(ctx context.Context) (net.Conn, error) {
	if r.err != nil {
		return nil, r.err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	each := connectTime / time.Duration(min(len(r.addrs), 4))
	var errs []error
	for _, addr := range r.addrs {
		dialer := net.Dialer{Timeout: each}
		conn, err := dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(addr, uint16(r.port)).String())
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// routeKey is the key of a request's route in its context, on the way to the
// transport's dialer.
type routeKey struct{}

func withRoute(ctx context.Context, to route) context.Context {
	return context.WithValue(ctx, routeKey{}, to)
}

// transport makes a transport that dials nothing but the route of a request.
func (p *Proxy) transport() *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			to, ok := ctx.Value(routeKey{}).(route)
			if !ok || addr != net.JoinHostPort(to.host.String(), strconv.Itoa(to.port)) {
				return nil, fmt.Errorf("dialing %s, which was not decided about", addr)
			}
			conn, err := to.dial(ctx)
			if err != nil {
				return nil, err
			}
			return &idleConn{Conn: conn}, nil
		},
		DisableCompression:     true, // bodies pass as they are
		MaxIdleConnsPerHost:    8,
		MaxIdleConns:           32,
		IdleConnTimeout:        time.Minute,
		TLSHandshakeTimeout:    connectTime,
		ResponseHeaderTimeout:  idleTime,
		MaxResponseHeaderBytes: 4 * maxHeader,
	}
}

// An idleConn ends when nothing moves on it for idleTime.
type idleConn struct{ net.Conn }

func (c *idleConn) Read(b []byte) (int, error) {
	if err := c.Conn.SetReadDeadline(time.Now().Add(idleTime)); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

func (c *idleConn) Write(b []byte) (int, error) {
	// A long upload keeps the wait for its answer alive as well.
	if err := c.Conn.SetDeadline(time.Now().Add(idleTime)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}
