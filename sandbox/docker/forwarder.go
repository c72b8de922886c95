package docker

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/belljar/belljar/internal/supervisor"
)

const (
	// maxForwarders is how many forwarders a sandbox gets, the first included.
	// What ends them again and again will end the next one too.
	maxForwarders = 3
	// lossGrace is how much later than the forwarder's the sandbox's own end
	// may be noticed, when both end for the same reason.
	lossGrace = time.Second
)

// A forwarder is the container that passes connections on, while it runs.
type forwarder struct {
	id    string
	lease *lease
}

// start makes the first forwarder of a container that runs, and returns when it
// listens. From then on it is replaced when it ends, and broke is told.
func (o *outlet) start(ctx context.Context, p *plan, sandboxID string, broke func(text string, over bool)) error {
	first, err := o.startForwarder(ctx, p, sandboxID, 1)
	if err != nil {
		return err
	}
	if err := o.replace(first); err != nil {
		return err
	}
	o.guarding.Go(func() { o.guard(p, sandboxID, first, broke) })
	return nil
}

// guard replaces the forwarder when it ends without having been told to. broke
// is told twice: when it has ended, and what came of that, which is over.
func (o *outlet) guard(p *plan, sandboxID string, current *forwarder, broke func(text string, over bool)) {
	for count := 1; ; count++ {
		select {
		case <-current.lease.lost:
		case <-o.lifetime.Done():
			return
		}
		why := "the way to the network broke (" + o.whyLost(current) + "), which cuts and refuses connections"
		broke(why, false)
		next, err := o.again(p, sandboxID, count+1)
		if o.lifetime.Err() != nil {
			return
		}
		if err != nil {
			broke(why+"; it is not set up again ("+oneLine(err.Error())+"): nothing can be reached from this sandbox any more", true)
			return
		}
		broke(why+"; it was set up again", true)
		current = next
	}
}

// whyLost says why a forwarder is at an end, and lets go of it.
func (o *outlet) whyLost(f *forwarder) string {
	// The engine's word on the exit code comes a moment after the end.
	select {
	case <-f.lease.ended:
	case <-time.After(lossGrace):
	}
	why := f.lease.reason()
	if how := f.lease.exitText(); how != "" {
		why += ", " + how
	}
	return why
}

// again starts another forwarder in the place of one that has ended.
func (o *outlet) again(p *plan, sandboxID string, number int) (*forwarder, error) {
	ctx, cancel := context.WithTimeout(o.lifetime, startBound)
	defer cancel()
	if number > maxForwarders {
		return nil, fmt.Errorf("it broke %d times", maxForwarders)
	}
	// The old one may still hold the port, such as when only its connection
	// was cut.
	if err := o.replace(nil); err != nil {
		return nil, err
	}
	next, err := o.startForwarder(ctx, p, sandboxID, number)
	if err != nil {
		return nil, err
	}
	return next, o.replace(next)
}

// replace puts a forwarder in the place of the one that was there, which is
// removed; nil puts none. Once the outlet is closed none is put any more.
func (o *outlet) replace(next *forwarder) error {
	o.mu.Lock()
	old := o.forwarder
	o.forwarder = next
	if o.closed && next != nil {
		old, o.forwarder = next, nil
	}
	o.mu.Unlock()
	if old == nil {
		return nil
	}
	old.lease.release()
	return o.engine.remove(old.id)
}

// startForwarder makes a forwarder and returns when it listens. Nothing is left
// behind when it fails.
func (o *outlet) startForwarder(ctx context.Context, p *plan, sandboxID string, number int) (_ *forwarder, err error) {
	config, host := p.forwarder(sandboxID, filepath.Join(o.dir, socketName))
	name := p.name + "-proxy"
	if number > 1 {
		name = fmt.Sprintf("%s-%d", name, number) // the engine may still know the old one
	}
	created, err := o.engine.create(ctx, config, host, name)
	if err != nil {
		return nil, fmt.Errorf("creating the container of the proxy: %s", oneLine(err.Error()))
	}
	defer func() {
		if err != nil {
			_ = o.engine.remove(created.ID) // the start's error tells more; what is left is remembered
		}
	}()
	conn, err := o.engine.hijack(ctx, "/containers/"+created.ID+"/attach?stream=1&stdin=1&stdout=1&stderr=1", nil)
	if err != nil {
		return nil, fmt.Errorf("attaching to the container of the proxy: %w", err)
	}
	if err := o.engine.api.ContainerStart(ctx, created.ID, container.StartOptions{}); err != nil {
		conn.Close()
		return nil, fmt.Errorf("starting the container of the proxy: %s", oneLine(err.Error()))
	}
	release := context.AfterFunc(ctx, func() { conn.Close() })
	defer release()
	in := newFrames(conn.Reader, shortBuffer)
	_, said, err := in.next()
	if text := string(said); text != supervisor.Magic {
		conn.Close()
		if text = oneLine(text); text == "" && err != nil {
			text = err.Error()
		}
		return nil, fmt.Errorf("reaching the proxy from a container: %s: the engine must run on this machine and see %s", text, o.dir)
	}
	waitCtx, stopWait := context.WithCancel(context.Background())
	giveUp := context.AfterFunc(ctx, stopWait) // the client waits for the answer's head
	exit, failed := o.engine.api.ContainerWait(waitCtx, created.ID, container.WaitConditionNextExit)
	giveUp()
	f := &forwarder{id: created.ID, lease: holdLease(conn, in, o.engine.leaseTimes(), exit, failed, stopWait)}
	f.lease.begin()
	return f, nil
}

// wayBroke tells that the way out broke and, once it is over, what came of it:
// to the next command that ends, and to whoever asked to be told. Where the
// sandbox itself is at an end, that is what is told, and not here.
func (b *box) wayBroke(text string, over bool) {
	b.setNote(text)
	if !over || b.notify == nil {
		return
	}
	select {
	case <-b.lease.lost:
	case <-b.closing:
	case <-time.After(lossGrace):
		b.notify(text)
	}
}
