package docker_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/belljar/belljar/internal/leaktest"
	"github.com/belljar/belljar/sandbox"
)

// maxSpares is how many execs may wait in a sandbox that has nothing to do.
const maxSpares = 4

// TestNothingPilesUp runs many commands in one sandbox, some of them canceled,
// and counts what is left of them on both sides.
func TestNothingPilesUp(t *testing.T) {
	engine := connect(t)
	seen := observe(t, engine)
	sb := start(t, engine, newSpec(t, os.Getuid(), os.Getgid()))
	id := sb.Info().ID
	script(t, sb, "true")
	processes := seen.settled(t, id)
	t.Run("Commands", func(t *testing.T) {
		leaktest.Check(t, 12) // idle connections, spares that are being started
		for i := range 200 {
			got := execute(t, sb, sandbox.Command{Script: fmt.Sprintf("echo %d; exit %d", i, i)})
			if got.err != nil || got.result.Status != sandbox.Exited || *got.result.ExitCode != i || got.output != fmt.Sprintln(i) {
				t.Fatalf("command %d: %s, error %v, output %q", i, describe(got.result), got.err, got.output)
			}
		}
		for i := range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			out := awaiting("ready\n")
			var group sync.WaitGroup
			group.Go(func() {
				result, err := sb.Exec(ctx, sandbox.Command{Script: "setsid sleep 600 & echo ready; sleep 600", Stdout: out, Stderr: out})
				if err != nil || result.Status != sandbox.Canceled {
					t.Errorf("canceled command %d: %s, error %v", i, describe(result), err)
				}
			})
			within(t, hang, "the start of a command", func() { <-out.seen })
			cancel()
			within(t, hang, "a canceled command", group.Wait)
		}
		script(t, sb, "true")
	})
	if now := seen.settled(t, id); now > processes+maxSpares {
		t.Errorf("%d processes in the container, %d before", now, processes)
	}
	var execs int
	eventually(t, hang, "few execs are left", func() bool {
		execs = len(seen.inspect(t, id).ExecIDs)
		return execs <= maxSpares
	})
	if execs == 0 {
		t.Error("the engine lists no exec at all, so the count says nothing")
	}
}

// settled counts the processes in a container once the count stays the same for
// a while: spares are started behind a command's back.
func (o observer) settled(t *testing.T, id string) int {
	t.Helper()
	last, since := -1, time.Now()
	eventually(t, hang, "the number of processes stays the same", func() bool {
		top, err := o.ContainerTop(t.Context(), id, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(top.Processes); n != last {
			last, since = n, time.Now()
		}
		return time.Since(since) > time.Second
	})
	return last
}
