package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/belljar/belljar/sandbox"
)

// The limits of the sandbox that is driven to its limits. Small ones are
// reached soon, and prove as much.
const (
	stressMemory = 128 * sandbox.MiB
	stressPids   = 64
	stressDisk   = 64 * sandbox.MiB
)

// bombTime ends a fork bomb that never fills the limit.
const bombTime = 15 * time.Second

// stressed starts the second sandbox once.
func (e *examination) stressed(ctx context.Context) (sandbox.Sandbox, error) {
	if e.stress != nil {
		return e.stress, nil
	}
	spec, err := e.further("stress")
	if err != nil {
		return nil, err
	}
	spec.Limits = sandbox.Limits{Memory: stressMemory, CPUs: spec.Limits.CPUs, Disk: stressDisk}
	if e.held["processes"] {
		spec.Limits.Pids = stressPids // what a runtime cannot set is refused
	}
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
	if errors.Is(err, sandbox.ErrLost) && result.Status == sandbox.OutOfMemory && !e.sandbox.Info().Capabilities.Counters {
		// With such a runtime the sandbox ends with the command, as is told.
		e.stress = nil
		if err = box.Close(); err == nil {
			box, err = e.stressed(ctx)
		}
		if err == nil {
			next, err = box.Exec(ctx, sandbox.Command{Script: "exit 4", Timeout: probeTimeout})
		}
	}
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
	if e.held["memory"] && !e.sandbox.Info().Capabilities.Counters {
		return "", fmt.Errorf("%w: this runtime does not declare that it counts (counters); what goes over the memory takes its sandbox along", errSkip)
	}
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
	places, limits := "", e.sandbox.Info().Limits
	for place, size := range map[string]int64{"/tmp": limits.Tmp, `"$HOME"`: limits.Home, "/dev/shm": limits.Shm} {
		if size > 0 {
			places += " " + place
		}
	}
	result, err := e.exhaust(ctx, "temporary space", `for d in `+places+`; do
	if dd if=/dev/zero of="$d/fill" bs=1048576 count=4096 2>/dev/null; then exit 1; fi
	rm -f "$d/fill"
done`)
	switch {
	case err != nil:
		return "", err
	case result.Status != sandbox.Exited:
		return "", fmt.Errorf("a command that filled the folders in memory ended as %s", result.Status)
	case *result.ExitCode != 0:
		return "", errors.New("a folder in memory takes 4 GiB")
	}
	return "the folders in memory are bounded, and the next command works", nil
}

// checkDiskLimit proves that a command cannot fill the machine's disk: files of
// which none is too large by itself, in the workspace and, where the system can
// be changed, beside it.
func (e *examination) checkDiskLimit(ctx context.Context) (string, error) {
	if limit := e.sandbox.Info().Limits.Disk; limit <= 0 {
		return "", fmt.Errorf("%w: no limit on disk was asked for, or this runtime has none", errSkip)
	}
	if slices.Contains(e.sandbox.Info().Loosened, "disk=single files only") {
		return "", fmt.Errorf("%w: what the workspace takes cannot be watched on this machine, so only single files are limited", errSkip)
	}
	e.held["disk"] = true // nothing reads it back, and little is written
	result, err := e.exhaust(ctx, "disk", fmt.Sprintf(`for i in 1 2 3 4 5 6 7 8; do
	head -c %d /dev/zero > fill$i; sleep 0.3
done
sleep 10`, stressDisk/4))
	switch {
	case err != nil:
		return "", err
	case result.Status != sandbox.DiskLimit:
		return "", fmt.Errorf("a command that wrote twice what it may on disk ended as %s", result.Status)
	}
	return "a command over the limit is ended, and the next one works", nil
}
