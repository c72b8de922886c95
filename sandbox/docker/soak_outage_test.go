//go:build soak

package docker_test

import "sync"

// An outage tells when the engine itself was killed, which harms all sandboxes
// at once. A nil one is of an engine that lives on. Its methods may be called
// from any goroutine.
type outage struct {
	mu    sync.Mutex
	count int  // how many have begun
	away  bool // the engine does not answer yet
}

// A moment is one in the life of an engine.
type moment struct {
	count int
	away  bool
}

// begin is called before the engine is killed.
func (o *outage) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.count++
	o.away = true
}

// end is called when the engine answers again.
func (o *outage) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.away = false
}

func (o *outage) now() moment {
	if o == nil {
		return moment{}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return moment{o.count, o.away}
}

// since tells whether the engine was away at any time since a moment.
func (o *outage) since(m moment) bool {
	now := o.now()
	return m.away || now.away || now.count != m.count
}
