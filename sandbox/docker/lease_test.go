package docker

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"

	"github.com/belljar/belljar/internal/supervisor"
)

// leased holds a lease whose other side answers bytes as long as answer says.
// The function that it returns ends both.
func leased(answer func() bool) (l *lease, end func()) {
	mine, theirs := net.Pipe()
	exit, failed := make(chan container.WaitResponse), make(chan error)
	conn := types.HijackedResponse{Conn: mine, Reader: bufio.NewReader(mine)}
	l = holdLease(conn, newFrames(conn.Reader, shortBuffer), leaseTimes{beat: leaseBeat, stall: leaseStall}, exit, failed, func() { close(failed) })
	l.begin()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for buf := make([]byte, 64); ; {
			if _, err := theirs.Read(buf); err != nil {
				return
			}
			// A frame of stdout with one byte.
			if answer() {
				_, _ = theirs.Write([]byte{1, 0, 0, 0, 0, 0, 0, 1, '.'})
			}
		}
	}()
	return l, func() {
		l.release()
		theirs.Close()
		<-ended
	}
}

func (l *lease) isLost() bool { return closed(l.lost) }

func TestLeaseAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, end := leased(func() bool { return true })
		defer end()
		time.Sleep(24 * time.Hour)
		if l.isLost() {
			t.Errorf("a lease that was always answered is lost: %s", l.reason())
		}
	})
}

func TestLeaseStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var answers atomic.Bool
		answers.Store(true)
		l, end := leased(answers.Load)
		defer end()
		time.Sleep(time.Hour)
		synctest.Wait()
		answers.Store(false)
		<-l.lost
		silent := time.Since(began) - time.Hour
		if silent < leaseStall || silent > leaseStall+2*leaseBeat {
			t.Errorf("the lease was lost after %v of silence, want about %v", silent, leaseStall)
		}
	})
}

func TestLeaseAnsweredSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Less often than it is asked, and more often than it may be silent.
		bytes := 0
		l, end := leased(func() bool { bytes++; return bytes%3 == 0 })
		defer end()
		time.Sleep(time.Hour)
		if l.isLost() {
			t.Errorf("the lease is lost: %s", l.reason())
		}
	})
}

func TestLeaseExitText(t *testing.T) {
	code := int64(2)
	tests := []struct {
		name  string
		lease lease
		want  string
	}{
		{"nothing known", lease{}, ""},
		{"a code", lease{code: &code}, "exit code 2"},
		{"words", lease{said: []byte("cannot go on\nstack")}, `it said "cannot go on"`},
		{"both", lease{code: &code, said: []byte("cannot \x1b[31mgo on")}, `exit code 2, it said "cannot \x1b[31mgo on"`},
	}
	for i := range tests {
		t.Run(tests[i].name, func(t *testing.T) {
			if got := tests[i].lease.exitText(); got != tests[i].want {
				t.Errorf("got %s, want %s", got, tests[i].want)
			}
		})
	}
}

func TestLeaseHears(t *testing.T) {
	mine, theirs := net.Pipe()
	exit, failed := make(chan container.WaitResponse), make(chan error)
	conn := types.HijackedResponse{Conn: mine, Reader: bufio.NewReader(mine)}
	l := holdLease(conn, newFrames(conn.Reader, shortBuffer), leaseTimes{beat: leaseBeat, stall: leaseStall}, exit, failed, func() { close(failed) })
	// Frames of stderr, more of them than is kept.
	for range saidBound {
		if _, err := theirs.Write([]byte{2, 0, 0, 0, 0, 0, 0, 2, 'n', 'o'}); err != nil {
			t.Fatal(err)
		}
	}
	theirs.Close()
	<-l.lost
	l.release()
	if got, want := l.exitText(), fmt.Sprintf("it said %q", strings.Repeat("no", saidBound/2)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestLeaseAfterGreeting has a lease on a connection on which something was
// said before.
func TestLeaseAfterGreeting(t *testing.T) {
	for _, test := range []struct{ name, greeting string }{
		{"as a forwarder's", supervisor.Magic},
		{"that looks like a frame", "\x01\x00\x00\x00\x00\x00\x01\x00"},
	} {
		t.Run(test.name, func(t *testing.T) {
			mine, theirs := net.Pipe()
			exit, failed := make(chan container.WaitResponse), make(chan error)
			conn := types.HijackedResponse{Conn: mine, Reader: bufio.NewReader(mine)}
			sent := make(chan error, 1) // one answer, so the sender never waits
			go func() {
				_, err := theirs.Write([]byte(frame(streamStdout, test.greeting) + frame(streamStderr, "cannot go on")))
				theirs.Close()
				sent <- err
			}()
			in := newFrames(conn.Reader, shortBuffer)
			if _, said, err := in.next(); err != nil || string(said) != test.greeting {
				t.Fatalf("it began with %q, %v", said, err)
			}
			l := holdLease(conn, in, leaseTimes{beat: leaseBeat, stall: leaseStall}, exit, failed, func() { close(failed) })
			if err := <-sent; err != nil {
				t.Fatal(err)
			}
			<-l.lost
			l.release()
			if got, want := l.exitText(), `it said "cannot go on"`; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
