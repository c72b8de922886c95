package docker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/belljar/belljar/internal/supervisor"
	"github.com/belljar/belljar/sandbox"
)

// leastAhead is how many spares wait for commands, beside the one that is kept
// to end processes: one can be started while a model thinks. mostAhead is how
// many where commands come quicker than that: two that start together are ready
// sooner than two in turn, more were no quicker on two processors and take
// memory and processes from the commands. With two, one is nearly always being
// started while a command runs, which could stop it, so it is done only where
// that can be mended.
const (
	leastAhead = 1
	mostAhead  = 2
)

// What two that are being started take beside those that wait is no matter with
// the usual limits. Of 64 processes it left too few for commands, which then
// seemed to have used them up.
const (
	pairPids   = 128
	pairMemory = 256 * sandbox.MiB
)

// roomForPairs tells whether limits leave room for two starts at a time.
func roomForPairs(l sandbox.Limits) bool {
	return (l.Pids <= 0 || l.Pids >= pairPids) && (l.Memory <= 0 || l.Memory >= pairMemory)
}

// rushed is for how long after a command had to wait its kind is expected.
const rushed = 2 * time.Second

// refillDelay lets a short command end before the start of the next spare
// competes with it for the processors.
const refillDelay = 10 * time.Millisecond

// onceDelay is how long a command runs, of which none is expected after it,
// before a second spare is started: an exec that is being started holds up the
// end of its container. Until then the command's own supervisor can end it.
const onceDelay = 500 * time.Millisecond

// A pool keeps the spares of one sandbox.
type pool struct {
	start func() (*spare, error) // bounded by the sandbox's life
	once  bool                   // one command is expected, and none after it
	// wakeable tells whether a start that a command has stopped can be
	// continued. It is asked once; nil is no.
	wakeable func() bool
	closing  chan struct{}  // closed by close
	wg       sync.WaitGroup // refills under way

	mu      sync.Mutex
	idle    []*spare
	killer  *spare
	giver   *spare    // the killer, while it gives files; it will be back soon
	refills int       // refills under way
	waiting int       // takers that wait for one
	lent    int       // borrowed to end processes, and to be given back
	handed  time.Time // when the last command got its spare
	waited  time.Time // when one last had to wait, though another came just before
	asked   bool      // wakeable was
	pairs   bool      // it said yes
	changed chan struct{}
	rush    chan struct{} // closed when a taker waits: no refill is put off then
	failure error         // why the last refill failed
	setup   supervisor.Setup
	closed  bool
}

func newPool(once bool, start func() (*spare, error)) *pool {
	return &pool{start: start, once: once, closing: make(chan struct{}), changed: make(chan struct{}), rush: make(chan struct{})}
}

// take returns a spare for one command, started now if none waits. Without a
// killer no command is begun, unless it may be alone: a fork bomb needs less
// time to fill the process limit than an engine to start an exec.
func (p *pool) take(ctx context.Context, alone bool) (*spare, error) {
	p.mu.Lock()
	p.waiting++
	if p.refills == 0 {
		p.failure = nil // an old one says nothing of now
	}
	defer func() {
		p.mu.Lock()
		p.waiting--
		p.mu.Unlock()
	}()
	for first := true; ; first = false {
		p.prune()
		if s := p.pick(alone); s != nil {
			if !alone { // one that may be alone has none behind it
				p.handed = time.Now()
			}
			p.mu.Unlock()
			return s, nil
		}
		if first && time.Since(p.handed) < rushed {
			p.waited = time.Now()
			p.ask()
		}
		if p.closed {
			p.mu.Unlock()
			return nil, errPoolClosed
		}
		if p.failure != nil && p.refills == 0 {
			err := p.failure
			p.failure = nil
			p.mu.Unlock()
			return nil, err
		}
		want := p.waiting + p.ahead() - leastAhead
		if p.killer == nil && p.lent == 0 && !alone {
			want++
		}
		for p.refills+len(p.idle) < want {
			p.refill(0)
		}
		close(p.rush)
		p.rush = make(chan struct{})
		changed := p.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		p.mu.Lock()
	}
}

// ahead is how many spares should wait for commands now. The lock is held.
func (p *pool) ahead() int {
	if !p.once && p.pairs && time.Since(p.waited) < rushed {
		return mostAhead
	}
	return leastAhead
}

// ask finds out whether two may be started at a time. The lock is held.
func (p *pool) ask() {
	if p.asked || p.wakeable == nil {
		return
	}
	p.asked = true
	p.wg.Go(func() {
		yes := p.wakeable()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.pairs = yes
	})
}

// pick takes a spare that waits, if one does. The lock is held.
func (p *pool) pick(alone bool) *spare {
	n := len(p.idle)
	switch {
	case n > 0 && (p.killer != nil || p.giver != nil && p.giver.alive() || alone):
		s := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return s
	case alone && p.killer != nil:
		s := p.killer
		p.killer = nil
		return s
	default:
		return nil
	}
}

// guarded tells whether a spare waits that could end processes.
func (p *pool) guarded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.prune()
	return p.killer != nil
}

var errPoolClosed = errors.New("the sandbox is closing")

// put takes in a spare that was taken and not used.
func (p *pool) put(s *spare) {
	p.mu.Lock()
	wanted := !p.closed && s.alive()
	if wanted {
		p.idle = append(p.idle, s)
		p.signal()
	}
	p.mu.Unlock()
	if !wanted {
		s.close()
	}
}

// prune forgets spares that a command has killed. The lock is held.
func (p *pool) prune() {
	p.idle = slices.DeleteFunc(p.idle, func(s *spare) bool { return !s.alive() })
	if p.killer != nil && !p.killer.alive() {
		p.killer = nil
	}
	if p.killer == nil && len(p.idle) > 1 {
		p.killer, p.idle = p.idle[0], p.idle[1:]
	}
}

// top starts what is missing after a while, in the background.
func (p *pool) top(delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.prune()
	for p.refills < p.missing() && !p.closed {
		p.refill(delay)
	}
}

// missing is how many spares there should be beside those that wait. The lock
// is held.
func (p *pool) missing() int {
	have, want := len(p.idle), p.ahead()+1
	if p.once {
		want = 1 // first to run the command, then to end its processes
	}
	if p.killer != nil || p.lent > 0 {
		have++
	}
	return want - have
}

// refill starts one spare in the background. The lock is held.
func (p *pool) refill(delay time.Duration) {
	p.refills++
	rush := p.rush
	if p.waiting > 0 {
		delay = 0
	}
	p.wg.Go(func() {
		if delay > 0 {
			select {
			case <-time.After(delay):
			case <-rush:
			case <-p.closing:
			}
		}
		s, err := p.start()
		p.mu.Lock()
		setup := p.setup
		p.mu.Unlock()
		if err == nil && len(setup.Root) > 0 {
			s.prepare(setup)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.refills--
		p.failure = err
		switch {
		case err != nil:
		case p.closed:
			s.conn.Close()
		// One that is lent comes back as the killer.
		case p.killer == nil && p.lent == 0 && (p.waiting == 0 || len(p.idle) > 0):
			p.killer = s
		default:
			p.idle = append(p.idle, s)
		}
		p.signal()
	})
}

// hint tells what the next command will probably start from, so that the
// shells of waiting spares are started for it.
func (p *pool) hint(setup supervisor.Setup) {
	if setup.Stdin {
		return
	}
	p.mu.Lock()
	p.setup = setup
	idle := slices.Clone(p.idle)
	p.mu.Unlock()
	for _, s := range idle {
		s.prepare(setup)
	}
}

// borrowKiller lends the spare that is kept for ending processes, or an idle
// one, or nil. The caller gives it back in any case.
func (p *pool) borrowKiller() *spare {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.prune()
	s := p.killer
	p.killer = nil
	if n := len(p.idle); s == nil && n > 0 {
		s, p.idle = p.idle[n-1], p.idle[:n-1]
	}
	if s != nil {
		p.lent++
	}
	return s
}

// borrowGiver is borrowKiller for work that keeps the spare fit to end
// processes, so that commands may begin meanwhile.
func (p *pool) borrowGiver() *spare {
	s := p.borrowKiller()
	p.mu.Lock()
	p.giver = s
	p.signal()
	p.mu.Unlock()
	return s
}

// keep takes in a spare that was started to end processes.
func (p *pool) keep(s *spare) {
	p.lend()
	p.giveBack(s)
}

// lend notes that a spare which was started beside the pool will come to it
// with giveBack.
func (p *pool) lend() {
	p.mu.Lock()
	p.lent++
	p.mu.Unlock()
}

// giveBack takes a borrowed spare in again, or replaces it by another one that
// is of more use.
func (p *pool) giveBack(s *spare) {
	p.mu.Lock()
	p.lent--
	if p.giver == s {
		p.giver = nil
	}
	wanted := !p.closed && s.alive() && p.killer == nil
	if wanted {
		p.killer = s
	}
	p.signal()
	p.mu.Unlock()
	if !wanted {
		s.close()
	}
}

// signal wakes the takers. The lock is held.
func (p *pool) signal() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// pids lists the supervisors that wait, for a Kill that must spare them.
func (p *pool) pids() []supervisor.Proc {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.prune()
	var list []supervisor.Proc
	for _, s := range p.idle {
		list = append(list, s.self)
	}
	if p.killer != nil {
		list = append(list, p.killer.self)
	}
	return list
}

// close ends all spares and waits for the refills.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	close(p.closing)
	all := p.idle
	if p.killer != nil {
		all = append(all, p.killer)
	}
	p.idle, p.killer = nil, nil
	p.signal()
	p.mu.Unlock()
	for _, s := range all {
		s.close()
	}
	waitBounded(p.wg.Wait, closeWait)
}
