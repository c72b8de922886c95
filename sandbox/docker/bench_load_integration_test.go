package docker_test

import (
	"context"
	"io"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
)

// BenchmarkOutput runs a command that writes a GiB, through
// belljar and through the docker command line to /dev/null, in turn.
func BenchmarkOutput(b *testing.B) {
	box, _ := benchBox(b)
	const size = sandbox.GiB
	script := "head -c " + strconv.FormatInt(size, 10) + " /dev/zero"
	var through, cli durations
	for b.Loop() {
		through.measure(b, func() error {
			_, err := box.Exec(context.Background(), sandbox.Command{Script: script, Stdout: io.Discard, Stderr: io.Discard})
			return err
		})
		cli.measure(b, func() error { return exec.Command("docker", "exec", box.Info().ID, "bash", "-c", script).Run() })
	}
	mbs := func(d durations) float64 { return float64(size) / 1e6 / (d.at(50) / 1000) }
	b.ReportMetric(mbs(through), "MB/s")
	b.ReportMetric(mbs(cli), "cli-MB/s")
	b.ReportMetric(mbs(through)/mbs(cli), "speed/cli")
}

// BenchmarkSandboxes starts many sandboxes at once, runs a command in each, and
// tells what each further one takes of this process's memory.
func BenchmarkSandboxes(b *testing.B) {
	engine := connect(b)
	const count = 32
	var first durations
	kib := 0.0
	for b.Loop() {
		before := ownMemory()
		var mu sync.Mutex
		var boxes []sandbox.Sandbox
		var all sync.WaitGroup
		for range count {
			spec := newSpec(b, 0, 0)
			all.Go(func() {
				start := time.Now()
				box, err := engine.Start(context.Background(), spec)
				if err != nil {
					b.Error(err)
					return
				}
				err = runTrue(box)
				mu.Lock()
				defer mu.Unlock()
				boxes = append(boxes, box)
				first = append(first, time.Since(start))
				if err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
		kib = max(kib, float64(ownMemory()-before)/count/1024)
		for _, box := range boxes {
			all.Go(func() {
				if err := box.Close(); err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
	}
	first.report(b, "first")
	b.ReportMetric(kib, "KiB/sandbox")
}

// ownMemory is what the heap and the stacks of this process hold.
func ownMemory() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapInuse + stats.StackInuse)
}
