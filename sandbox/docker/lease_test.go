package docker

import (
	"bufio"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
)

// leased holds a lease whose other side answers bytes as long as answer says.
// The function that it returns ends both.
func leased(answer func() bool) (l *lease, end func()) {
	mine, theirs := net.Pipe()
	exit, failed := make(chan container.WaitResponse), make(chan error)
	conn := types.HijackedResponse{Conn: mine, Reader: bufio.NewReader(mine)}
	l = holdLease(conn, leaseTimes{beat: leaseBeat, stall: leaseStall}, exit, failed, func() { close(failed) })
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
