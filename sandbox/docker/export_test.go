package docker

import "time"

// SetLeaseTimes makes the leases of sandboxes that are started from now on beat
// and give up sooner than usual, so that a test need not wait for half a minute.
func SetLeaseTimes(e *Engine, beat, stall time.Duration) {
	e.times = leaseTimes{beat: beat, stall: stall}
}
