//go:build soak

package docker_test

import (
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belljar/belljar/internal/leaktest"
	"github.com/belljar/belljar/sandbox"
)

const (
	// soakSamples is how many samples are taken in a run.
	soakSamples = 10
	// soakSide is how many commands run side by side.
	soakSide = 3
)

// TestSoakFlat runs a great many commands of all kinds in one sandbox, and
// looks that nothing grows: here, in the container, and in the engine.
func TestSoakFlat(t *testing.T) {
	commands := setting(t, commandsVariable, 10_000)
	leaktest.Check(t, 8) // idle connections of the engine that the test connects
	engine := connect(t)
	seen := observe(t, engine)
	daemon := enginePID(engine.Endpoint().Host)
	spec := newSpec(t, os.Getuid(), os.Getgid())
	spec.Limits.Memory = 512 * sandbox.MiB
	sb := start(t, engine, spec)
	id := sb.Info().ID
	samples := []sample{seen.sample(t, id, daemon)}
	began, next := time.Now(), new(atomic.Int64)
	for part := range soakSamples {
		until := int64(commands * (part + 1) / soakSamples)
		var group sync.WaitGroup
		for range soakSide {
			group.Go(func() {
				for {
					n := next.Add(1) - 1
					if n >= until {
						next.Add(-1)
						return
					}
					if wrong := mix(int(n)).run(t.Context(), sb); wrong != "" {
						t.Errorf("command %d: %s", n, wrong)
					}
				}
			})
		}
		group.Wait()
		if t.Failed() {
			break
		}
		// What the background left ends by itself.
		eventually(t, hang, "what commands left has ended", func() bool {
			return try(t.Context(), sb, sandbox.Command{Script: "! grep -qx sleep /proc/[0-9]*/comm 2>/dev/null"}).ok()
		})
		samples = append(samples, seen.sample(t, id, daemon))
		t.Logf("%d commands in %v: %v", until, time.Since(began).Round(time.Second), samples[len(samples)-1])
	}
	if !t.Failed() {
		wantFlat(t, samples)
	}
}

// ok tells whether a command exited 0.
func (a answer) ok() bool {
	return a.err == nil && a.result.Status == sandbox.Exited && *a.result.ExitCode == 0
}
