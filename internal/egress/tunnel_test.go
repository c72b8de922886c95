package egress_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/belljar/belljar/internal/egress"
)

// openTunnel makes a tunnel through a proxy to a server that the test is, and
// returns both ends.
func openTunnel(t *testing.T) (p *running, client, server net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	address := listener.Addr().String()
	p = serve(t, egress.Options{Rules: rules(t, address)}, nil)
	client = p.dial(t)
	// Bytes that come along with the request belong to the tunnel.
	fmt.Fprintf(client, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\nearly", address, address)
	if server, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	if err := server.SetDeadline(time.Now().Add(hang)); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReaderSize(client, 16), &http.Request{Method: http.MethodConnect})
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("answer %v, %v", resp, err)
	}
	expect(t, server, "early")
	return p, client, server
}

// expect reads exactly a text.
func expect(t *testing.T, conn net.Conn, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != want {
		t.Errorf("read %q, %v, want %q", got, err, want)
	}
}

// expectEnd reads the end of a connection.
func expectEnd(t *testing.T, conn net.Conn) {
	t.Helper()
	if rest, err := io.ReadAll(conn); err != nil || len(rest) != 0 {
		t.Errorf("read %q, %v, want the end", rest, err)
	}
}

func send(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Error(err)
	}
}

func closeHalf(t *testing.T, conn net.Conn) {
	t.Helper()
	if err := conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Error(err)
	}
}

func TestTunnelClosedByClient(t *testing.T) {
	_, client, server := openTunnel(t)
	send(t, client, "ping")
	expect(t, server, "ping")
	closeHalf(t, client)
	expectEnd(t, server)
	send(t, server, "still open the other way")
	expect(t, client, "still open the other way")
	server.Close()
	expectEnd(t, client)
}

func TestTunnelClosedByServer(t *testing.T) {
	_, client, server := openTunnel(t)
	send(t, server, "pong")
	closeHalf(t, server)
	expect(t, client, "pong")
	expectEnd(t, client)
	send(t, client, "still open the other way")
	expect(t, server, "still open the other way")
	client.Close()
	expectEnd(t, server)
}

// TestTunnelClosedByProxy: the end of the proxy is the end of its tunnels.
func TestTunnelClosedByProxy(t *testing.T) {
	p, client, server := openTunnel(t)
	ended := make(chan error, 1) // one answer, so the sender never waits
	go func() { ended <- p.Close() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(hang):
		t.Fatal("Close has not ended")
	}
	for _, conn := range []net.Conn{client, server} {
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Error("a side is still open")
		}
	}
}
