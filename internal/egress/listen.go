package egress

import (
	"io"
	"log"
	"net"
	"sync"
	"time"
)

// A limited listener hands out so many connections at once, and the next when
// one of them is closed.
type limited struct {
	net.Listener
	places chan struct{} // holds a place for each connection
	closed chan struct{}
	once   sync.Once
}

func limit(l net.Listener, most int) net.Listener {
	return &limited{Listener: l, places: make(chan struct{}, most), closed: make(chan struct{})}
}

func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &clientConn{Conn: conn, release: sync.OnceFunc(func() { <-l.places })}, nil
}

func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// A clientConn is a connection of a client inside. A client that takes nothing
// for idleTime is given up; how long it may say nothing is the server's matter.
type clientConn struct {
	net.Conn
	release func()
}

func (c *clientConn) Write(b []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(idleTime)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// CloseWrite ends one direction, where that can be done.
func (c *clientConn) CloseWrite() error { return closeWrite(c.Conn) }

func (c *clientConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// closeWrite tells the other side that nothing more comes.
func closeWrite(conn net.Conn) error {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return conn.Close()
}

// discardLog is for what net/http says about clients that misbehave.
func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }
