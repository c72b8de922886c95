//go:build linux && soak && engines

package docker_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// restartEvery is how long an engine lives on average.
const restartEvery = 20 * time.Second

// TestSoakFaultsRestart does what TestSoakFaults does while the engine itself is
// killed and started again, half of the commands with containers that end then
// and half with containers that live on.
func TestSoakFaultsRestart(t *testing.T) {
	service := connectService(t)
	total := setting(t, faultsVariable, 2_000)
	for mode, live := range modes {
		t.Run(mode, func(t *testing.T) {
			service.liveRestore(t, live)
			away := new(outage)
			ctx, enough := context.WithCancel(t.Context())
			var killer sync.WaitGroup
			killer.Go(func() {
				for {
					select {
					case <-time.After(restartEvery/2 + rand.N(restartEvery)):
						away.begin()
						service.kill(t, dockerd)
						service.await(t)
						away.end()
					case <-ctx.Done():
						return
					}
				}
			})
			settle := func() {
				enough()
				killer.Wait() // what it kills fails a test that has ended
			}
			defer settle()
			soakFaults(t, total/len(modes), away, settle)
			if away.now().count == 0 {
				t.Error("the engine was never killed, so the run says nothing")
			}
		})
	}
}
