package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/belljar/belljar/sandbox"
)

// The limits of the sandbox that is driven to its limits. Small ones are
// reached soon, and prove as much.
const (
	stressMemory = 128 * sandbox.MiB
	stressPids   = 64
)

// bombTime ends a fork bomb that never fills the limit.
const bombTime = 15 * time.Second

// stressed starts the second sandbox once.
func (e *examination) stressed(ctx context.Context) (sandbox.Sandbox, error) {
	if e.stress != nil {
		return e.stress, nil
	}
	spec := e.opts.Spec
	spec.Workspace = filepath.Join(e.dir, "stress")
	if err := os.Mkdir(spec.Workspace, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("making a workspace for the checks: %w", err)
	}
	spec.Limits = sandbox.Limits{Memory: stressMemory, Pids: stressPids, CPUs: spec.Limits.CPUs}
	started, err := e.engine.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	e.stress = started
	return started, nil
}

// exhaust runs a command that goes over a limit, and one after it that must
// work all the same. It returns how the first one ended. Where an earlier check
// did not find the limit in force it is not tried: it would take the machine.
func (e *examination) exhaust(ctx context.Context, limit, script string) (sandbox.Result, error) {
	if !e.held[limit] {
		return sandbox.Result{}, fmt.Errorf("%w: the limit (%s) was not found in force", errSkip, limit)
	}
	box, err := e.stressed(ctx)
	if err != nil {
		return sandbox.Result{}, err
	}
	result, err := box.Exec(ctx, sandbox.Command{Script: script, Timeout: bombTime, OutputLimit: probeOutput})
	if err != nil {
		return sandbox.Result{}, fmt.Errorf("going over a limit: %w", err)
	}
	next, err := box.Exec(ctx, sandbox.Command{Script: "exit 4", Timeout: probeTimeout})
	switch {
	case err != nil:
		return result, fmt.Errorf("the next command after one that ended as %s: %w", result.Status, err)
	case next.Status != sandbox.Exited || *next.ExitCode != 4:
		return result, fmt.Errorf("the next command after one that ended as %s ended as %s", result.Status, next.Status)
	}
	return result, nil
}

// checkFullMemory proves that a command cannot take the machine's memory.
func (e *examination) checkFullMemory(ctx context.Context) (string, error) {
	result, err := e.exhaust(ctx, "memory", fmt.Sprintf("dd if=/dev/zero of=/dev/null bs=%d count=1; exit 1", 2*stressMemory))
	switch {
	case err != nil:
		return "", err
	case result.Status != sandbox.OutOfMemory:
		return "", fmt.Errorf("a command that took twice its memory ended as %s", result.Status)
	}
	return "a command over the limit is ended, and the next one works", nil
}

// checkForkBomb proves that a command cannot fill the process table.
func (e *examination) checkForkBomb(ctx context.Context) (string, error) {
	result, err := e.exhaust(ctx, "processes", "bomb() { bomb | bomb & }; bomb; while :; do sleep 1; done")
	switch {
	case err != nil:
		return "", err
	case result.Status != sandbox.PidsLimit && result.Status != sandbox.TimedOut:
		return "", fmt.Errorf("a fork bomb ended as %s", result.Status)
	}
	return "all its processes are ended, and the next command works", nil
}

// checkFullDisks proves that what can be written beside the workspace is
// bounded, and that a full one does not stop the next command.
func (e *examination) checkFullDisks(ctx context.Context) (string, error) {
	result, err := e.exhaust(ctx, "temporary space", `for d in /tmp "$HOME" /dev/shm; do
	if dd if=/dev/zero of="$d/fill" bs=1048576 count=4096 2>/dev/null; then exit 1; fi
done
rm -f /tmp/fill "$HOME/fill" /dev/shm/fill`)
	switch {
	case err != nil:
		return "", err
	case result.Status != sandbox.Exited:
		return "", fmt.Errorf("a command that filled /tmp, home and /dev/shm ended as %s", result.Status)
	case *result.ExitCode != 0:
		return "", errors.New("/tmp, home or /dev/shm takes 4 GiB")
	}
	return "/tmp, home and /dev/shm are bounded, and the next command works", nil
}
