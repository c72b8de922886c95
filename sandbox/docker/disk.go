package docker

import (
	"context"
	"sync"
	"time"

	"github.com/belljar/belljar/internal/diskusage"
	"github.com/belljar/belljar/sandbox"
)

const (
	// diskTick is how often the space that is taken is asked for, which costs
	// one system call for each place.
	diskTick = 250 * time.Millisecond
	// diskPatience is how long it may take until files are looked at again
	// when the space tells nothing: other processes free some, too.
	diskPatience = 5 * time.Second
	// blindPatience is the same where the space cannot be asked for.
	blindPatience = 2 * time.Second
	// diskShare is how much of the time goes into looking at files: one part
	// of this many, and of so many more where nothing hints at a need.
	diskShare, idleShare = 6, 30
	// diskSlack is how much commands may write beyond what they were ended
	// for, since what frees space may have to write a little.
	diskSlack = 16 * sandbox.MiB
	// farOver is how far over its limit a sandbox may get, one command after
	// another, in bytes beside once more the limit.
	farOver = 4 * sandbox.GiB
)

// A diskWatch looks at what commands write, and ends them when it is more than
// the limit. It counts what was added since the sandbox started.
type diskWatch struct {
	limit diskAmount
	parts []diskPart
	// over is called when the limit was passed, after commands were told.
	over func(grown diskAmount)
	// held tells of files that were deleted and that something inside has open;
	// nil where that cannot be seen.
	held func(ctx context.Context, tell func(path string, bytes int64))

	ceiling             diskAmount // what may be there now
	notBefore, atLatest time.Time
	// wake asks for a look at once; one that is pending is enough, so its
	// capacity is one.
	wake chan struct{}
	// asks takes those who want a look now and wait for it. It has no room, so
	// that who sends knows that it is taken.
	asks chan diskAsk

	mu      sync.Mutex
	trip    *diskTrip
	since   time.Time // what was last changed before was not added in the sandbox
	filling int       // calls of fill under way
	anew    bool      // a fill has ended, and nothing was measured since
}

// A diskTrip is one time that the limit is passed. Commands that run then wait
// for done.
type diskTrip struct {
	done   chan struct{}
	reason string // valid once done is closed
}

// A diskPart is one place that commands write to.
type diskPart struct {
	shown   string // its path inside
	dir     string // a host folder of the same file system; "" is unknown
	measure func(context.Context, time.Time) (diskusage.Usage, error)
	known   bool       // it was measured, so that base holds
	base    diskAmount // what was there before the sandbox
	there   diskAmount // what was found last
	grown   diskAmount
	atStart diskAmount // taken of the file system when the sandbox started
	atLook  diskAmount // taken of it when it was last measured
	largest []diskusage.Entry
	fullest []diskusage.Folder
}

func newDiskWatch(limit int64, since time.Time, over func(diskAmount)) *diskWatch {
	return &diskWatch{
		limit: diskLimits(limit), ceiling: diskLimits(limit), since: since, over: over, trip: &diskTrip{done: make(chan struct{})},
		wake: make(chan struct{}, 1), asks: make(chan diskAsk),
	}
}

// current is what a command that starts now is ended by. A sandbox without a
// limit has none that ever comes.
func (w *diskWatch) current() *diskTrip {
	if w == nil {
		return &diskTrip{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trip
}

// run watches until the context ends.
func (w *diskWatch) run(ctx context.Context, parts []diskPart) {
	w.begin(ctx, parts)
	tick := time.NewTicker(diskTick)
	defer tick.Stop()
	for {
		if w.due(time.Now()) {
			w.look(ctx)
		}
		select {
		case <-tick.C:
		case <-w.wake:
		case ask := <-w.asks:
			w.answer(ctx, ask)
		case <-ctx.Done():
			return
		}
	}
}

// fill runs what brings content to the workspace from outside, which is not
// counted: commands have added nothing when it has ended.
func (w *diskWatch) fill(content func() error) error {
	if w == nil {
		return content()
	}
	w.mu.Lock()
	w.filling++
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.filling--
		w.since, w.anew = time.Now(), true
		w.mu.Unlock()
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}()
	return content()
}

// begin takes what there is before any command could have added much. A place
// that cannot be measured now is tried again with each look.
func (w *diskWatch) begin(ctx context.Context, parts []diskPart) {
	w.parts = parts
	for i := range w.parts {
		w.parts[i].start()
	}
	w.look(ctx)
}

// schedule decides when it is time to look again after a look that began at
// start.
func (w *diskWatch) schedule(start time.Time) {
	patience := diskPatience
	for i := range w.parts {
		if p := &w.parts[i]; p.dir == "" || !p.known {
			patience = blindPatience
		}
	}
	now := time.Now()
	cost := now.Sub(start)
	w.notBefore, w.atLatest = now.Add(diskShare*cost), now.Add(max(patience, idleShare*cost))
}

// due tells whether it is time to look at the files.
func (w *diskWatch) due(now time.Time) bool {
	w.mu.Lock()
	filling, anew := w.filling > 0, w.anew
	w.mu.Unlock()
	if filling || anew || now.Before(w.notBefore) {
		return anew && !filling
	}
	return w.perhapsOver() || now.After(w.atLatest)
}

// perhapsOver tells whether what was found last and what the file systems took
// in since may be too much together.
func (w *diskWatch) perhapsOver() bool {
	var possible diskAmount
	for i := range w.parts {
		p := &w.parts[i]
		possible = possible.plus(p.grown)
		if now, err := taken(p.dir); p.dir != "" && err == nil {
			possible = possible.plus(now.since(p.atLook))
		}
	}
	return possible.reaches(w.ceiling)
}

// look measures everything, and ends what runs when that is too much.
func (w *diskWatch) look(ctx context.Context) {
	start := time.Now()
	w.mu.Lock()
	since, anew := w.since, w.anew
	w.anew = false
	w.mu.Unlock()
	for i := range w.parts {
		if anew {
			w.parts[i].start()
		}
		w.parts[i].look(ctx, since)
	}
	grown := w.grown()
	if w.held != nil && !grown.reaches(w.ceiling) {
		w.addHeld(ctx) // looked for last, since it costs a look at all processes
		grown = w.grown()
	}
	if ctx.Err() != nil || w.refilled() {
		return
	}
	w.schedule(start)
	if anew {
		w.ceiling = w.limit
	}
	over := grown.reaches(w.ceiling)
	w.ceiling = diskAmount{
		nextCeiling(w.limit.bytes, w.ceiling.bytes, grown.bytes, diskSlack),
		nextCeiling(w.limit.files, w.ceiling.files, grown.files, fileSlack),
	}
	if !over {
		return
	}
	w.mu.Lock()
	passed := w.trip
	w.trip = &diskTrip{done: make(chan struct{})}
	w.mu.Unlock()
	passed.reason = w.reason(grown)
	close(passed.done)
	w.over(grown)
}

// grown is what was added everywhere, as it was found last.
func (w *diskWatch) grown() diskAmount {
	var sum diskAmount
	for i := range w.parts {
		sum = sum.plus(w.parts[i].grown)
	}
	return sum
}

// refilled tells whether what was measured just now says nothing, because
// content came meanwhile.
func (w *diskWatch) refilled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.anew || w.filling > 0
}

// start forgets what was measured: commands have added nothing yet.
func (p *diskPart) start() {
	now, err := taken(p.dir)
	if err != nil {
		p.dir = ""
	}
	p.known, p.atStart, p.atLook = false, now, now
}

// look measures one place. What cannot be looked into counts as all that the
// file system took in.
func (p *diskPart) look(ctx context.Context, since time.Time) {
	now, takenErr := taken(p.dir)
	usage, err := p.measure(ctx, since)
	if err != nil {
		return
	}
	if !p.known {
		p.known, p.base = true, diskAmount{usage.Total - usage.Fresh, usage.Files - usage.FreshFiles}
	}
	p.there = diskAmount{usage.Total, usage.Files}
	p.grown, p.largest, p.fullest = p.there.since(p.base), usage.Largest, usage.Fullest
	if p.dir == "" || takenErr != nil {
		return
	}
	if usage.Hidden > 0 {
		p.grown = p.grown.most(now.since(p.atStart))
	}
	p.atLook = now
}
