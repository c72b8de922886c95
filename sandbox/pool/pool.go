// Package pool keeps sandboxes that are started and wait to be used, each over
// an empty folder of the pool's own. Whoever takes one brings what is to be
// worked on into that folder; a sandbox is used once.
//
// A kind is all of a [sandbox.Spec] but its workspace and its session. Waiting
// sandboxes are of one kind each, and so is what can be handed out for it.
package pool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/belljar/belljar/internal/oneline"
	"github.com/belljar/belljar/sandbox"
)

// What the zero values of Options stand for.
const (
	DefaultSize     = 1
	DefaultKinds    = 4
	DefaultParallel = 2
	DefaultIdle     = 5 * time.Minute
	DefaultLifetime = time.Hour
)

// Options are the settings of a Pool. The zero value of a field is its default.
type Options struct {
	// Dir is the folder for the folders of sandboxes; "" is DefaultDir. It is
	// made, for its user only. The engine must be able to see it.
	Dir string
	// Size is how many sandboxes of a kind wait, and Kinds how many kinds are
	// kept; the one that was asked for least recently makes room.
	Size, Kinds int
	// Parallel is how many are started at once in the background.
	Parallel int
	// Idle is how long a kind is kept that nobody asks for.
	Idle time.Duration
	// Lifetime is how long a sandbox waits before another one replaces it.
	Lifetime time.Duration
	// Log receives what goes wrong in the background; nil discards.
	Log *slog.Logger
}

// fill sets the defaults.
func (o Options) fill() (Options, error) {
	if o.Size < 0 || o.Kinds < 0 || o.Parallel < 0 || o.Idle < 0 || o.Lifetime < 0 {
		return o, errors.New("making a pool of sandboxes: an option is negative")
	}
	number := func(n *int, or int) {
		if *n == 0 {
			*n = or
		}
	}
	number(&o.Size, DefaultSize)
	number(&o.Kinds, DefaultKinds)
	number(&o.Parallel, DefaultParallel)
	if o.Idle == 0 {
		o.Idle = DefaultIdle
	}
	if o.Lifetime == 0 {
		o.Lifetime = DefaultLifetime
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

// A Pool hands out sandboxes. It is safe for concurrent use. When its process is
// killed, the sandboxes end as all do, and their folders are what Collect finds.
type Pool struct {
	runtime  sandbox.Runtime
	opts     Options
	lifetime context.Context // ends with Close, and with it starts under way
	stop     context.CancelFunc
	slots    chan struct{} // holds a place for each start in the background
	group    sync.WaitGroup

	closeOnce sync.Once
	closeErr  error

	mu     sync.Mutex
	kinds  map[string]*kind
	closed bool
}

// New makes a pool of the runtime's sandboxes, which is empty until it is asked
// for the first one. The caller closes it, and the runtime after it.
func New(runtime sandbox.Runtime, opts Options) (*Pool, error) {
	opts, err := opts.fill()
	if err != nil {
		return nil, err
	}
	if opts.Dir, err = makeDir(opts.Dir); err != nil {
		return nil, err
	}
	p := &Pool{runtime: runtime, opts: opts, kinds: map[string]*kind{}, slots: make(chan struct{}, opts.Parallel)}
	p.lifetime, p.stop = context.WithCancel(context.Background())
	return p, nil
}

// ErrClosed is wrapped by Get on a closed pool.
var ErrClosed = errors.New("the pool of sandboxes is closed")

// Get hands out a sandbox whose workspace holds the content: one that waits, or
// one that is started now. nil content is that of the folder Spec.Workspace, and
// where that is "" the workspace is empty. The caller closes the sandbox, which
// outlives the pool.
//
// Spec.Session counts for a sandbox that is started now. One that waited was
// made for no session, and an image whose name was given to another one since
// then is the old one, for at most the pool's lifetime of sandboxes.
func (p *Pool) Get(ctx context.Context, spec sandbox.Spec, content Content) (*Sandbox, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("taking a sandbox from the pool: %w", context.Cause(ctx))
	}
	if err := checkKind(spec); err != nil {
		return nil, err
	}
	if content == nil && spec.Workspace != "" {
		content = CopyOf(spec.Workspace, spec.Owner)
	}
	sb, err := p.take(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("taking a sandbox from the pool: %w", err)
	}
	if content != nil {
		if err := sb.fill(func() error { return content(ctx, sb.Workspace()) }); err != nil {
			return nil, oneline.Join(fmt.Errorf("filling the workspace of a sandbox: %w", err), sb.Close())
		}
	}
	return sb, nil
}

// Warm has sandboxes for the spec started in the background, so that the first
// Get finds one.
func (p *Pool) Warm(spec sandbox.Spec) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	if err := checkKind(spec); err != nil {
		return err
	}
	p.refill(p.ask(spec))
	return nil
}

// checkKind refuses what cannot wait over an empty folder.
func checkKind(spec sandbox.Spec) error {
	if !spec.Protect.Empty() {
		return errors.New("taking a sandbox from the pool: what is to be protected is not there before the content is: ask for no protection")
	}
	return nil
}

// Waiting tells how many sandboxes are ready to be handed out.
func (p *Pool) Waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	count := 0
	for _, k := range p.kinds {
		count += len(k.waiting)
	}
	return count
}

// take gives a sandbox that waits and lives, else a new one.
func (p *Pool) take(ctx context.Context, spec sandbox.Spec) (*Sandbox, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	k := p.ask(spec)
	for len(k.waiting) > 0 {
		w := k.waiting[0]
		p.takeOut(k, w)
		if w.sb.lives() {
			p.refill(k)
			p.mu.Unlock()
			return w.sb, nil
		}
		p.discard(w)
	}
	p.mu.Unlock()
	sb, err := p.start(ctx, spec)
	if err != nil {
		return nil, err
	}
	// Only now, so that those for later do not hold up this one.
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed && p.kinds[k.key] == k {
		p.refill(k)
	}
	return sb, nil
}

// start starts a sandbox over a folder of its own.
func (p *Pool) start(ctx context.Context, spec sandbox.Spec) (*Sandbox, error) {
	folder, err := newFolder(p.opts.Dir, spec.Owner)
	if err != nil {
		return nil, err
	}
	spec.Workspace = folder.workspace
	inner, err := p.runtime.Start(ctx, spec)
	if err != nil {
		return nil, oneline.Join(err, folder.remove())
	}
	return &Sandbox{Sandbox: inner, folder: folder}, nil
}

// Close removes the sandboxes that wait, with their folders, and returns when
// all of them are gone. Those that were handed out are not touched. It may be
// called more than once; later calls return the first one's answer.
func (p *Pool) Close() error {
	p.closeOnce.Do(func() {
		p.stop()
		p.mu.Lock()
		p.closed = true
		var all []*waiter
		for _, k := range p.kinds {
			all = append(all, p.drop(k)...)
		}
		p.mu.Unlock()
		errs := make([]error, len(all))
		for i, w := range all {
			p.group.Go(func() { errs[i] = w.sb.Close() })
		}
		p.group.Wait()
		p.closeErr = oneline.Join(errs...)
	})
	return p.closeErr
}
