package ui

import (
	"sync"
	"time"
)

// liveInterval is how often the live line is drawn again.
const liveInterval = time.Second

// A liveLine is the last line of a terminal, drawn again each second while
// something is waited for. Its fields are guarded by the renderer's lock.
type liveLine struct {
	label string
	since time.Time
	drawn bool
	// paused: something else stands on the last line.
	paused bool

	once sync.Once
	quit chan struct{} // closed to end the ticker
	done chan struct{} // closed by the ticker when it has ended
}

// newLiveLine starts the ticker, which calls draw with the lock held.
func newLiveLine(mu *sync.Mutex, draw func(label string, since time.Duration)) *liveLine {
	l := &liveLine{quit: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		ticker := time.NewTicker(liveInterval)
		defer ticker.Stop()
		for {
			select {
			case <-l.quit:
				return
			case <-ticker.C:
			}
			mu.Lock()
			// What is over within a second need not flicker.
			if took := time.Since(l.since); l.label != "" && !l.paused && took >= liveInterval {
				draw(l.label, took)
				l.drawn = true
			}
			mu.Unlock()
		}
	}()
	return l
}

// set says what is waited for from now on. The lock is held.
func (l *liveLine) set(label string) {
	if label != l.label {
		l.since = time.Now()
	}
	l.label = label
}

// stop ends the ticker and waits for it. The lock must not be held.
func (l *liveLine) stop() {
	l.once.Do(func() { close(l.quit) })
	<-l.done
}
