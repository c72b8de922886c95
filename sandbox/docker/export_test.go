package docker

import "time"

// SetLeaseTimes makes the leases of sandboxes that are started from now on beat
// and give up sooner than usual, so that a test need not wait for half a minute.
func SetLeaseTimes(e *Engine, beat, stall time.Duration) {
	e.times = leaseTimes{beat: beat, stall: stall}
}

// SetPatience makes commands be handed over within these bounds, so that a test
// need not wait for minutes.
func SetPatience(e *Engine, least, most time.Duration) { e.patience = patience{least, most} }
