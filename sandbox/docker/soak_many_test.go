//go:build soak

package docker_test

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/belljar/belljar/internal/leaktest"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/docker"
)

// TestSoakSandboxes starts many sandboxes at once, over two connections to the
// engine that share a bound, and runs commands in all of them at once.
func TestSoakSandboxes(t *testing.T) {
	count := setting(t, sandboxesVariable, 32)
	leaktest.Check(t, 16) // idle connections of three engines
	first := connect(t)
	path, err := helper.build()
	if err != nil {
		t.Fatal(err)
	}
	starts := docker.NewStarts()
	var engines []*docker.Engine
	for range 2 {
		engine, err := docker.Connect(t.Context(), docker.Options{Host: first.Endpoint().Host, Helper: path, Starts: starts})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := engine.Close(); err != nil {
				t.Error(err)
			}
		})
		engines = append(engines, engine)
	}
	before, began := inUse(), time.Now()
	boxes := make([]sandbox.Sandbox, count)
	var group sync.WaitGroup
	for i := range count {
		spec := newSpec(t, os.Getuid(), os.Getgid())
		group.Go(func() {
			sb, err := engines[i%len(engines)].Start(t.Context(), spec)
			if err != nil {
				t.Errorf("sandbox %d: %v", i, err)
				return
			}
			boxes[i] = sb
		})
	}
	group.Wait()
	t.Logf("%d sandboxes started in %v", count, time.Since(began).Round(10*time.Millisecond))
	t.Cleanup(func() { closeAll(t, boxes) })
	if t.Failed() {
		return
	}
	took := make([]time.Duration, count)
	began = time.Now()
	for i, sb := range boxes {
		group.Go(func() {
			for n := range 10 {
				asked, want := time.Now(), fmt.Sprintf("%d.%d\n", i, n)
				got := try(t.Context(), sb, sandbox.Command{Script: "echo " + want})
				took[i] = max(took[i], time.Since(asked))
				if !got.ok() || got.output != want {
					t.Errorf("sandbox %d: %s, error %v, output %q, want %q", i, describe(got.result), got.err, got.output, want)
				}
			}
		})
	}
	group.Wait()
	longest := time.Duration(0)
	for _, d := range took {
		longest = max(longest, d)
	}
	each := (inUse() - before) / int64(count)
	t.Logf("%d commands in %v, the longest %v; %d KiB of memory a sandbox", 10*count, time.Since(began).Round(10*time.Millisecond), longest.Round(time.Millisecond), each>>10)
	if each > 2<<20 {
		t.Errorf("a sandbox takes %d bytes of this process, want less than 2 MiB", each)
	}
}

// closeAll closes sandboxes at once, those that were started.
func closeAll(t *testing.T, boxes []sandbox.Sandbox) {
	t.Helper()
	var group sync.WaitGroup
	for _, sb := range boxes {
		if sb == nil {
			continue
		}
		group.Go(func() {
			if err := sb.Close(); err != nil {
				t.Errorf("closing a sandbox: %v", err)
			}
		})
	}
	within(t, 2*hang, "closing all", group.Wait)
}

// inUse is how much memory this process has in use, stacks included, in bytes.
func inUse() int64 {
	runtime.GC()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	return int64(mem.HeapAlloc + mem.StackInuse)
}
