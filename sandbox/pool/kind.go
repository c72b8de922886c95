package pool

import (
	"fmt"
	"slices"
	"time"

	"github.com/belljar/belljar/sandbox"
)

// A kind holds the sandboxes that wait to be handed out for one spec.
type kind struct {
	key      string
	spec     sandbox.Spec
	asked    time.Time   // when one was asked for last
	idle     *time.Timer // drops the kind
	waiting  []*waiter   // the oldest first
	starting int         // starts under way
	dropped  bool
}

// A waiter is a sandbox that waits. taken is closed when it does so no more.
type waiter struct {
	sb    *Sandbox
	taken chan struct{}
}

// keyOf tells kinds apart.
func keyOf(spec sandbox.Spec) string {
	spec.Workspace, spec.Session = "", ""
	return fmt.Sprintf("%#v", spec)
}

// ask returns the kind for a spec, made if need be, and notes that it was asked
// for. The lock is held.
func (p *Pool) ask(spec sandbox.Spec) *kind {
	key := keyOf(spec)
	k, ok := p.kinds[key]
	if !ok {
		p.makeRoom()
		spec.Workspace, spec.Session = "", ""
		// The caller may go on with its slices.
		spec.Env, spec.Owner.Groups, spec.Mounts = slices.Clone(spec.Env), slices.Clone(spec.Owner.Groups), slices.Clone(spec.Mounts)
		k = &kind{key: key, spec: spec}
		k.idle = time.AfterFunc(p.opts.Idle, func() { p.expire(k) })
		p.kinds[key] = k
	}
	k.asked = time.Now()
	k.idle.Reset(p.opts.Idle)
	return k
}

// makeRoom drops the kind that was asked for least recently, where there is no
// room for another one. The lock is held.
func (p *Pool) makeRoom() {
	if len(p.kinds) < p.opts.Kinds {
		return
	}
	var oldest *kind
	for _, k := range p.kinds {
		if oldest == nil || k.asked.Before(oldest.asked) {
			oldest = k
		}
	}
	for _, w := range p.drop(oldest) {
		p.discard(w)
	}
}

// expire drops a kind that nobody has asked for in a while.
func (p *Pool) expire(k *kind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || k.dropped || time.Since(k.asked) < p.opts.Idle {
		return
	}
	for _, w := range p.drop(k) {
		p.discard(w)
	}
}

// drop forgets a kind and returns what waited, which the caller closes. The lock
// is held.
func (p *Pool) drop(k *kind) []*waiter {
	delete(p.kinds, k.key)
	k.idle.Stop()
	k.dropped = true
	all := slices.Clone(k.waiting)
	for _, w := range all {
		p.takeOut(k, w)
	}
	return all
}

// takeOut takes a sandbox from those that wait and tells whether it was one of
// them. The lock is held.
func (p *Pool) takeOut(k *kind, w *waiter) bool {
	i := slices.Index(k.waiting, w)
	if i < 0 {
		return false
	}
	k.waiting = slices.Delete(k.waiting, i, i+1)
	close(w.taken)
	return true
}

// discard closes a sandbox that was not handed out, in the background. The lock
// is held and the pool is not closed.
func (p *Pool) discard(w *waiter) {
	p.group.Go(func() {
		if err := w.sb.Close(); err != nil {
			p.opts.Log.Warn("removing a sandbox of the pool", "error", err)
		}
	})
}

// refill starts what is missing, in the background. The lock is held and the
// pool is not closed.
func (p *Pool) refill(k *kind) {
	for ; len(k.waiting)+k.starting < p.opts.Size; k.starting++ {
		p.group.Go(func() { p.startOne(k) })
	}
}

// startOne starts a sandbox that is to wait. One that cannot be started is not
// tried again before the next one is asked for.
func (p *Pool) startOne(k *kind) {
	var sb *Sandbox
	var err error
	select {
	case p.slots <- struct{}{}:
		sb, err = p.start(p.lifetime, k.spec)
		<-p.slots
	case <-p.lifetime.Done():
		err = ErrClosed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	k.starting--
	switch {
	case err != nil && !p.closed:
		p.opts.Log.Warn("starting a sandbox for the pool", "error", err)
	case err != nil:
	case p.closed || k.dropped:
		// This goroutine is one that Close waits for.
		p.discard(&waiter{sb: sb})
	default:
		w := &waiter{sb: sb, taken: make(chan struct{})}
		k.waiting = append(k.waiting, w)
		p.group.Go(func() { p.watch(k, w) })
	}
}

// watch replaces a sandbox that waits when it dies or has waited for too long.
func (p *Pool) watch(k *kind, w *waiter) {
	old := time.NewTimer(p.opts.Lifetime)
	defer old.Stop()
	select {
	case <-w.taken:
		return
	case <-w.sb.lost():
	case <-old.C:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.takeOut(k, w) {
		p.discard(w)
		p.refill(k)
	}
}
