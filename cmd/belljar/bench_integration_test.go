package main

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/belljar/belljar/images"
	"github.com/belljar/belljar/internal/enginetest"
)

// BenchmarkProgram runs `true` by the program as it is shipped, the removal of
// the sandbox included, and by docker run, in turn.
func BenchmarkProgram(b *testing.B) {
	engine := enginetest.Require(b, "")
	if _, err := engine.EnsureImage(b.Context(), images.Tag(), os.Stderr); err != nil {
		b.Fatal(err)
	}
	binary, err := enginetest.Binary(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	workspace := b.TempDir()
	measure := func(args ...string) time.Duration {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = workspace
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%q: %v: %s", args, err, out)
		}
		return time.Since(start)
	}
	var whole, run []time.Duration
	for b.Loop() {
		whole = append(whole, measure(binary, "exec", "--", "true"))
		run = append(run, measure("docker", "run", "--rm", images.Tag(), "true"))
	}
	b.ReportMetric(median(whole), "exec-p50-ms")
	b.ReportMetric(median(run), "docker-run-p50-ms")
	b.ReportMetric(median(whole)/median(run), "exec/docker-run")
}

// median is in milliseconds.
func median(d []time.Duration) float64 {
	slices.Sort(d)
	return float64(d[(len(d)-1)/2].Microseconds()) / 1000
}

// BenchmarkVersion starts the program as it is shipped for the least that it
// does, and git for the same, in turn.
func BenchmarkVersion(b *testing.B) {
	binary, err := enginetest.Binary(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	measure := func(args ...string) time.Duration {
		start := time.Now()
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			b.Fatalf("%q: %v: %s", args, err, out)
		}
		return time.Since(start)
	}
	var own, git []time.Duration
	for b.Loop() {
		own = append(own, measure(binary, "version"))
		git = append(git, measure("git", "--version"))
	}
	b.ReportMetric(median(own), "belljar-p50-ms")
	b.ReportMetric(median(git), "git-p50-ms")
	b.ReportMetric(median(own)/median(git), "belljar/git")
}
