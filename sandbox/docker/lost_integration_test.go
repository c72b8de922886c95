package docker_test

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/belljar/belljar/sandbox"
)

// TestContainerLost takes the container away, as an operator or the kernel may.
func TestContainerLost(t *testing.T) {
	engine := connect(t)
	seen := observe(t, engine)
	for _, test := range []struct {
		name  string
		words string
		loses func(ctx context.Context, id string) error
	}{
		{"removed", "the container was removed", func(ctx context.Context, id string) error {
			err := seen.ContainerRemove(ctx, id, container.RemoveOptions{Force: true})
			return ignoreUnderWay(err)
		}},
		{"killed", "has ended", func(ctx context.Context, id string) error { return seen.ContainerKill(ctx, id, "KILL") }},
		{"stopped", "has ended", func(ctx context.Context, id string) error {
			return seen.ContainerStop(ctx, id, container.StopOptions{})
		}},
	} {
		t.Run(test.name+" before a command", func(t *testing.T) {
			sb := start(t, engine, newSpec(t, os.Getuid(), os.Getgid()))
			script(t, sb, "echo works")
			if err := test.loses(t.Context(), sb.Info().ID); err != nil {
				t.Fatal(err)
			}
			seen.wantGone(t, sb.Info().ID, hang)
			wantLost(t, execute(t, sb, sandbox.Command{Script: "exit 3"}), test.words)
			wantLost(t, execute(t, sb, sandbox.Command{Args: []string{"true"}}), test.words)
		})
		t.Run(test.name+" during a command", func(t *testing.T) {
			sb := start(t, engine, newSpec(t, os.Getuid(), os.Getgid()))
			wait := background(t, sb, sandbox.Command{Script: "echo ready; sleep 30; exit 3"})
			if err := test.loses(t.Context(), sb.Info().ID); err != nil {
				t.Fatal(err)
			}
			wantLost(t, wait(), test.words)
			wantLost(t, execute(t, sb, sandbox.Command{Script: "exit 3"}), test.words)
			seen.wantGone(t, sb.Info().ID, hang)
		})
	}
}

// ignoreUnderWay drops the engine's complaint that it removes the container
// already, which it does by itself once the container has ended.
func ignoreUnderWay(err error) error {
	var conflict interface{ Conflict() }
	if errors.As(err, &conflict) {
		return nil
	}
	return err
}

// TestContainerLostSideBySide loses a container that several commands use.
func TestContainerLostSideBySide(t *testing.T) {
	engine := connect(t)
	seen := observe(t, engine)
	sb := start(t, engine, newSpec(t, os.Getuid(), os.Getgid()))
	var waits []func() answer
	for range 4 {
		waits = append(waits, background(t, sb, sandbox.Command{Script: "echo ready; sleep 300"}))
	}
	if err := seen.ContainerKill(t.Context(), sb.Info().ID, "KILL"); err != nil {
		t.Fatal(err)
	}
	for _, wait := range waits {
		wantLost(t, wait(), "has ended")
	}
}

// TestContainerPaused pauses the container for a moment, which loses nothing.
func TestContainerPaused(t *testing.T) {
	engine := connect(t)
	seen := observe(t, engine)
	sb := start(t, engine, newSpec(t, os.Getuid(), os.Getgid()))
	id := sb.Info().ID
	input, typed := io.Pipe()
	wait := background(t, sb, sandbox.Command{Script: "echo ready; read -r word; echo got $word; exit 5", Stdin: input})
	seen.awaitExecs(t, id, 3) // the command's too
	if err := seen.ContainerPause(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if state := seen.inspect(t, id).State; !state.Paused {
		t.Errorf("the container is %s, want paused", state.Status)
	}
	if _, err := io.WriteString(typed, "hello\n"); err != nil {
		t.Fatal(err)
	}
	if err := seen.ContainerUnpause(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	got := wait()
	typed.Close()
	if got.err != nil || got.result.Status != sandbox.Exited || *got.result.ExitCode != 5 || got.output != "ready\ngot hello\n" {
		t.Errorf("%s, error %v, output %q, want exit code 5 and the input", describe(got.result), got.err, got.output)
	}
	if got := script(t, sb, "echo next"); got != "next\n" {
		t.Errorf("the next command wrote %q", got)
	}
}
