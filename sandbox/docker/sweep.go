package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
)

// sweepAge is how old a container that does not run must be before it counts
// as left behind when its owner cannot be looked up: between its creation and
// its start a live owner needs well under a second.
const sweepAge = 5 * time.Minute

// Sweep removes containers of belljar whose owner is dead, and returns how
// many, and the sockets that they had. Only an owner of the same boot and the same name space of processes
// can be called dead; the containers of others are left to their lease unless
// they do not run.
func (e *Engine) Sweep(ctx context.Context) (int, error) {
	list, err := e.api.ContainerList(ctx, container.ListOptions{
		All: true, Filters: filters.NewArgs(filters.Arg("label", labelBelljar+"="+labelSandbox)),
	})
	if err != nil {
		return 0, fmt.Errorf("listing containers: %w", err)
	}
	here, err := thisHost()
	if err != nil {
		return 0, err
	}
	removed := 0
	var errs []error
	for _, c := range list {
		if !abandoned(c.Labels, c.State, time.Unix(c.Created, 0), here, processStart) {
			continue
		}
		e.log.Info("removing a container that its owner left", "container", c.ID)
		if err := e.remove(c.ID); err != nil {
			errs = append(errs, err)
			continue
		}
		removed++
	}
	return removed, errors.Join(append(errs, e.sweepOutlets())...)
}

// abandoned tells whether a container's owner is dead. Where that cannot be
// known, only a container that does not run counts as left behind.
func abandoned(labels map[string]string, state container.ContainerState, created time.Time, here host, startOf func(int) (string, error)) bool {
	pid, err := strconv.Atoi(labels[labelPID])
	known := err == nil && here.known && labels[labelStart] != "" &&
		labels[labelBoot] == here.boot && labels[labelPIDNS] == here.pidns
	if !known {
		ended := state == container.StateCreated || state == container.StateExited || state == container.StateDead
		return ended && time.Since(created) > sweepAge
	}
	start, err := startOf(pid)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true
	case err != nil:
		return false
	default:
		return start != labels[labelStart]
	}
}
