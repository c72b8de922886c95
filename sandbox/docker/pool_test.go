package docker

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docker/docker/api/types"

	"github.com/belljar/belljar/sandbox"
)

// nowhere is a connection that takes everything.
type nowhere struct{ net.Conn }

func (nowhere) Write(p []byte) (int, error)      { return len(p), nil }
func (nowhere) Close() error                     { return nil }
func (nowhere) SetWriteDeadline(time.Time) error { return nil }

// startsOf tells how many spares a pool starts, and how many at a time. Each
// start takes a tenth of a second.
func startsOf(wakeable bool, use func(p *pool)) (count, most int) {
	under := 0
	p := newPool(false, nil)
	p.wakeable = func() bool { return wakeable }
	p.start = func() (*spare, error) {
		p.mu.Lock()
		count++
		under++
		most = max(most, under)
		p.mu.Unlock()
		time.Sleep(100 * time.Millisecond)
		p.mu.Lock()
		under--
		p.mu.Unlock()
		return &spare{conn: types.HijackedResponse{Conn: nowhere{}}, quit: make(chan struct{}), done: make(chan struct{})}, nil
	}
	use(p)
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.wg.Wait()
	return count, most
}

// Where commands come without a pause two spares are started at a time, if what
// is stopped meanwhile can be continued.
func TestPairsInARush(t *testing.T) {
	for name, test := range map[string]struct {
		wakeable bool
		pause    time.Duration
		pairs    bool
	}{
		"a rush":                   {true, 0, true},
		"a rush, nothing to wake":  {false, 0, false},
		"a pause between commands": {true, 10 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				late := 0 // the most that were started at a time, once it runs
				_, _ = startsOf(test.wakeable, func(p *pool) {
					for n := range 12 {
						if _, err := p.take(t.Context(), false); err != nil {
							t.Fatal(err)
						}
						p.top(refillDelay)
						p.mu.Lock()
						if n > 4 {
							late = max(late, p.refills)
						}
						p.mu.Unlock()
						time.Sleep(test.pause)
					}
				})
				if (late > 1) != test.pairs {
					t.Errorf("%d were started at a time", late)
				}
			})
		})
	}
}

// A small sandbox has no room for two starts at a time.
func TestRoomForPairs(t *testing.T) {
	for name, test := range map[string]struct {
		limits sandbox.Limits
		want   bool
	}{
		"none":           {sandbox.Limits{}, true},
		"usual":          {sandbox.Limits{Pids: 512, Memory: 2 * sandbox.GiB}, true},
		"few processes":  {sandbox.Limits{Pids: 64, Memory: 2 * sandbox.GiB}, false},
		"little memory":  {sandbox.Limits{Pids: 512, Memory: 128 * sandbox.MiB}, false},
		"just enough":    {sandbox.Limits{Pids: 128, Memory: 256 * sandbox.MiB}, true},
		"no bound there": {sandbox.Limits{Pids: -1, Memory: 0}, true},
	} {
		if got := roomForPairs(test.limits); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The look at a new sandbox is no command, so that one command after it is no
// rush.
func TestTheFirstLookIsNoCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		count, _ := startsOf(true, func(p *pool) {
			p.top(0)
			s, err := p.take(t.Context(), true)
			if err != nil {
				t.Fatal(err)
			}
			p.put(s)
			if _, err := p.take(t.Context(), false); err != nil {
				t.Fatal(err)
			}
			p.top(refillDelay)
			time.Sleep(10 * time.Second)
		})
		if count != 3 {
			t.Errorf("%d were started, want two at first and one for the command", count)
		}
	})
}
