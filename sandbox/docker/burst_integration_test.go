package docker_test

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
)

// TestBurstBesideTimeouts runs bursts of commands beside others that are ended
// with all their processes: an end must hit nobody else.
func TestBurstBesideTimeouts(t *testing.T) {
	engine := connect(t)
	spec := newSpec(t, os.Getuid(), os.Getgid())
	spec.Limits.Memory = 512 * sandbox.MiB
	sb := start(t, engine, spec)
	var workers, ender sync.WaitGroup
	done := make(chan struct{}) // closed when the workers have ended
	ended := 0
	ender.Go(func() {
		for {
			got := try(t.Context(), sb, sandbox.Command{
				Script:  `echo begun; setsid sh -c 'trap "" TERM; sleep 600' & (sleep 600 & sleep 600); wait`,
				Timeout: 300 * time.Millisecond,
			})
			if got.err != nil || got.result.Status != sandbox.TimedOut || got.result.KilledCount == 0 {
				t.Errorf("the command that times out: %s, killed %d, error %v", describe(got.result), got.result.KilledCount, got.err)
				return
			}
			ended++
			select {
			case <-done:
				return
			default:
			}
		}
	})
	for worker := range 8 {
		workers.Go(func() {
			for i := range 10 {
				code := (worker*10 + i) % 256
				text := fmt.Sprintf("%d.%d", worker, i)
				var stdout, stderr output
				got := try(t.Context(), sb, sandbox.Command{
					Script: fmt.Sprintf("(sleep 0.02; echo %s) | cat; echo err %s >&2; exit %d", text, text, code),
					Stdout: &stdout, Stderr: &stderr,
				})
				if got.err != nil || got.result.Status != sandbox.Exited || *got.result.ExitCode != code ||
					stdout.String() != text+"\n" || stderr.String() != "err "+text+"\n" {
					t.Errorf("command %s: %s, error %v, output %q and %q, want exit code %d",
						text, describe(got.result), got.err, stdout.String(), stderr.String(), code)
				}
			}
		})
	}
	within(t, 2*hang, "the burst", workers.Wait)
	close(done)
	within(t, hang, "the command that times out", ender.Wait)
	if ended == 0 {
		t.Error("no command timed out beside the burst")
	}
	if got := script(t, sb, "grep -lx sleep /proc/[0-9]*/comm 2>/dev/null; :"); got != "" {
		t.Errorf("sleeps left in the sandbox: %q", got)
	}
}
