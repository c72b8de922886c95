package docker_test

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"

	"github.com/belljar/belljar/sandbox"
)

// think is the pause before a warm command, in which a model would think and
// the next spare gets ready.
const think = 400 * time.Millisecond

// durations are the times of one way to run a command.
type durations []time.Duration

func (d *durations) measure(b *testing.B, run func() error) {
	b.Helper()
	start := time.Now()
	if err := run(); err != nil {
		b.Fatal(err)
	}
	*d = append(*d, time.Since(start))
}

// at returns a percentile in milliseconds.
func (d durations) at(percent int) float64 {
	sorted := slices.Sorted(slices.Values(d))
	return float64(sorted[(len(sorted)-1)*percent/100].Microseconds()) / 1000
}

func (d durations) report(b *testing.B, name string) {
	b.ReportMetric(d.at(50), name+"-p50-ms")
	b.ReportMetric(d.at(90), name+"-p90-ms")
}

// BenchmarkWays runs `true` in four ways in turn, so that all see the same
// machine: a shell on the host, a warm command, an exec through the engine's
// API, and the docker command line. The time of one operation means nothing
// here; the percentiles do.
func BenchmarkWays(b *testing.B) {
	box, api := benchBox(b)
	var host, warm, engine, cli durations
	for b.Loop() {
		time.Sleep(think)
		warm.measure(b, func() error { return runTrue(box) })
		time.Sleep(think) // so that the next spare's start is over
		host.measure(b, func() error { return exec.Command("bash", "-c", "true").Run() })
		engine.measure(b, func() error { return apiExec(api, box.Info().ID) })
		cli.measure(b, func() error {
			return exec.Command("docker", "-H", api.DaemonHost(), "exec", box.Info().ID, "bash", "-c", "true").Run()
		})
	}
	host.report(b, "host")
	warm.report(b, "warm")
	engine.report(b, "api")
	cli.report(b, "cli")
	b.ReportMetric(warm.at(50)/host.at(50), "warm/host")
	b.ReportMetric(warm.at(50)/engine.at(50), "warm/api")
	b.ReportMetric(cli.at(50)/warm.at(50), "cli/warm")
}

// BenchmarkBurst runs commands without a pause, where no spare can be ready,
// and execs through the engine's API in turn.
func BenchmarkBurst(b *testing.B) {
	box, api := benchBox(b)
	const size = 50
	var burst, engine durations
	for b.Loop() {
		for range size {
			burst.measure(b, func() error { return runTrue(box) })
		}
		for range size {
			engine.measure(b, func() error { return apiExec(api, box.Info().ID) })
		}
	}
	burst.report(b, "burst")
	engine.report(b, "api")
	b.ReportMetric(burst.at(50)/engine.at(50), "burst/api")
}

// BenchmarkStart measures a sandbox for one command from nothing to its result
// and to its removal, beside docker run of the same command.
func BenchmarkStart(b *testing.B) {
	engine := connect(b)
	spec := newSpec(b, 0, 0)
	spec.Once = true
	var first, whole, run durations
	for b.Loop() {
		start := time.Now()
		box, err := engine.Start(context.Background(), spec)
		if err != nil {
			b.Fatal(err)
		}
		if err := runTrue(box); err != nil {
			b.Fatal(err)
		}
		first = append(first, time.Since(start))
		if err := box.Close(); err != nil {
			b.Fatal(err)
		}
		whole = append(whole, time.Since(start))
		run.measure(b, func() error {
			return exec.Command("docker", "-H", engine.Endpoint().Host, "run", "--rm", "--runtime", spec.Runtime, spec.Image, "true").Run()
		})
	}
	first.report(b, "first")
	whole.report(b, "whole")
	run.report(b, "docker-run")
	b.ReportMetric(first.at(50)/run.at(50), "first/docker-run")
	b.ReportMetric(whole.at(50)/run.at(50), "whole/docker-run")
}

func benchBox(b *testing.B) (sandbox.Sandbox, *client.Client) {
	b.Helper()
	engine := connect(b)
	box, err := engine.Start(context.Background(), newSpec(b, 0, 0))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := box.Close(); err != nil {
			b.Error(err)
		}
	})
	api, err := client.NewClientWithOpts(client.WithHost(engine.Endpoint().Host), client.WithAPIVersionNegotiation())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = api.Close() })
	return box, api
}

func runTrue(box sandbox.Sandbox) error {
	result, err := box.Exec(context.Background(), sandbox.Command{Script: "true", Stdout: io.Discard, Stderr: io.Discard})
	if err == nil && (result.Status != sandbox.Exited || *result.ExitCode != 0) {
		err = fmt.Errorf("true ended as %s", result.Status)
	}
	return err
}

// apiExec is what a client of the engine's API does for one command.
func apiExec(api *client.Client, id string) error {
	ctx := context.Background()
	created, err := api.ContainerExecCreate(ctx, id, container.ExecOptions{
		Cmd: []string{"bash", "-c", "true"}, AttachStdout: true, AttachStderr: true,
	})
	if err != nil {
		return err
	}
	conn, err := api.ContainerExecAttach(ctx, created.ID, container.ExecAttachOptions{})
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := stdcopy.StdCopy(io.Discard, io.Discard, conn.Reader); err != nil {
		return err
	}
	_, err = api.ContainerExecInspect(ctx, created.ID)
	return err
}
