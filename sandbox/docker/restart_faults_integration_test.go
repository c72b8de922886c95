//go:build linux && engines

package docker_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belljar/belljar/internal/leaktest"
	"github.com/belljar/belljar/sandbox"
)

const (
	// faultCommands is how many commands have to end right while the engine is
	// killed again and again.
	faultCommands = 300
	// faultWorkers is how many sandboxes run them.
	faultWorkers = 3
)

// TestRestartFaults kills the engine at random moments under commands of
// several sandboxes. Each command ends right or with the loss of its sandbox,
// and nothing is left over.
func TestRestartFaults(t *testing.T) {
	service := connectService(t)
	for mode, live := range modes {
		t.Run(mode, func(t *testing.T) {
			leaktest.Check(t, 12) // idle connections
			service.liveRestore(t, live)
			session := newSession()
			ctx, enough := context.WithCancel(t.Context())
			var right, lost, kills atomic.Int64
			var workers, killer sync.WaitGroup
			for range faultWorkers {
				spec := newSpec(t, os.Getuid(), os.Getgid())
				spec.Session = session
				workers.Go(func() {
					for right.Load() < faultCommands {
						service.work(t, spec, &right, &lost)
					}
				})
			}
			killer.Go(func() {
				for ctx.Err() == nil {
					select {
					case <-time.After(2*time.Second + rand.N(6*time.Second)):
						service.kill(t, dockerd)
						service.await(t)
						kills.Add(1)
					case <-ctx.Done():
					}
				}
			})
			within(t, 15*time.Minute, "the commands", workers.Wait)
			enough()
			within(t, hang, "the last kill", killer.Wait)
			t.Logf("%d commands ended right, %d sandboxes were lost, the engine was killed %d times", right.Load(), lost.Load(), kills.Load())
			if kills.Load() == 0 || lost.Load() == 0 {
				t.Error("nothing was put to the test")
			}
			service.wantNoneLeft(t, session)
		})
	}
}

// work runs commands in one sandbox until it is lost or enough have ended right.
func (s service) work(t *testing.T, spec sandbox.Spec, right, lost *atomic.Int64) {
	sb, err := s.Start(t.Context(), spec)
	if err != nil {
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("starting a sandbox: %q is more than one line", err)
		}
		time.Sleep(200 * time.Millisecond) // the engine is being started
		return
	}
	defer func() { _ = sb.Close() }()
	for right.Load() < faultCommands {
		code := rand.IntN(256)
		// Some are over at once, some are caught in their midst.
		got := try(t.Context(), sb, sandbox.Command{Script: fmt.Sprintf("echo one %d; sleep 0.0%d; echo two >&2; exit %d", code, rand.IntN(10), code)})
		wantRight(t, got, code, fmt.Sprintf("one %d\ntwo\n", code))
		switch {
		case got.err == nil:
			right.Add(1)
			continue
		case !errors.Is(got.err, sandbox.ErrLost):
			t.Errorf("%q does not wrap ErrLost", got.err)
		}
		lost.Add(1)
		return
	}
}
