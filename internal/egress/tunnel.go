package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// refuse answers a request that is not passed on.
func refuse(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Connection", "close")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text+"\n") // a client that is gone needs no answer
}

// tunnel serves CONNECT.
func (p *Proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	h, port, err := parseTarget(r.Host, 0)
	if err != nil {
		refuseTunnel(w, http.StatusBadRequest, p.refused(r.Host, unreadable(err)))
		return
	}
	to, err := p.decide(r.Context(), h, port)
	if err != nil {
		refuseTunnel(w, http.StatusForbidden, err)
		return
	}
	server, err := to.dial(r.Context())
	if err != nil {
		p.failed(r.Context(), h, port, oneLine(err))
		refuseTunnel(w, http.StatusBadGateway, fmt.Errorf("belljar cannot reach %s: %w", h.withPort(port), err))
		return
	}
	defer server.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // the client is gone
	}
	defer client.Close()
	// The server's deadline for a request's header must not end the tunnel.
	if err := client.SetDeadline(time.Time{}); err != nil {
		return
	}
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	join(p.lifetime, client, buffered.Reader, server)
}

// parseTarget reads HOST:PORT. A port that is missing is usual, or refused
// where that is 0.
func parseTarget(text string, usual int) (host, int, error) {
	hostText, port, err := splitPort(text)
	if err != nil {
		return host{}, 0, err
	}
	if port == 0 {
		port = usual
	}
	if port == 0 {
		return host{}, 0, fmt.Errorf("%.300q names no port", text)
	}
	h, err := parseHost(hostText)
	return h, port, err
}

// refuseTunnel says why a tunnel is not made. Most clients show nothing but
// the status line of such an answer, so that says it too.
func refuseTunnel(w http.ResponseWriter, code int, why error) {
	client, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // the client is gone
	}
	defer client.Close()
	text := oneLine(why)
	fmt.Fprintf(client, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s\n",
		code, text, len(text)+1, text)
}

// oneLine is an error in one line of printable characters.
func oneLine(err error) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, err.Error())
}

// join passes bytes both ways until both sides have ended, nothing moved for
// long, or the context is done. The caller closes the connections.
func join(ctx context.Context, client net.Conn, fromClient io.Reader, server net.Conn) {
	release := context.AfterFunc(ctx, func() {
		client.Close()
		server.Close()
	})
	defer release()
	var moved atomic.Int64 // when a byte last moved
	var half atomic.Bool   // one side has ended
	moved.Store(time.Now().UnixNano())
	pass := func(to, from net.Conn, r io.Reader) {
		err := pump(to, from, r, &moved, &half)
		half.Store(true)
		if err != nil || closeWrite(to) != nil {
			client.Close()
			server.Close()
			return
		}
		// The other direction looks at its time again, which is shorter now.
		_ = to.SetReadDeadline(time.Now().Add(lingerTime))
	}
	var both sync.WaitGroup
	both.Go(func() { pass(server, client, fromClient) })
	both.Go(func() { pass(client, server, server) })
	both.Wait()
}

// pump passes bytes one way until their end. A time without a byte counts only
// when none moved the other way either.
func pump(to, from net.Conn, r io.Reader, moved *atomic.Int64, half *atomic.Bool) error {
	buf := make([]byte, 32<<10)
	for {
		bound := idleTime
		if half.Load() {
			bound = lingerTime
		}
		if err := from.SetReadDeadline(time.Unix(0, moved.Load()).Add(bound)); err != nil {
			return err
		}
		n, err := r.Read(buf)
		if n > 0 {
			moved.Store(time.Now().UnixNano())
			if err := to.SetWriteDeadline(time.Now().Add(idleTime)); err != nil {
				return err
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return err
			}
			moved.Store(time.Now().UnixNano())
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded) && time.Since(time.Unix(0, moved.Load())) < bound:
		case err != nil:
			return err
		}
	}
}
