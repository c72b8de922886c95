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

	"github.com/belljar/belljar/internal/oneline"
)

// sweepAge is how old a container that does not run must be before it counts
// as left behind when its owner cannot be looked up: between its creation and
// its start a live owner needs well under a second.
const sweepAge = 5 * time.Minute

// Sweep removes containers of belljar whose owner is dead, with the sockets
// that they had, and returns how many. Only an owner of the same boot and the
// same name space of processes can be called dead; the containers of others are
// left to their lease unless they do not run.
func (e *Engine) Sweep(ctx context.Context) (int, error) {
	list, err := e.containers(ctx)
	if err != nil {
		return 0, err
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
	return removed, oneline.Join(append(errs, e.sweepOutlets())...)
}

// listTries is how often a list is asked for where a container that is being
// removed breaks it, which was seen of Podman.
const listTries = 5

// containers lists the containers that belljar made, whatever their state.
func (e *Engine) containers(ctx context.Context) ([]container.Summary, error) {
	for try := 1; ; try++ {
		list, err := e.api.ContainerList(ctx, container.ListOptions{
			All: true, Filters: filters.NewArgs(filters.Arg("label", labelBelljar+"="+labelSandbox)),
		})
		switch {
		case err == nil:
			return list, nil
		case !isNotFound(err) || try == listTries:
			return nil, fmt.Errorf("listing containers: %w", err)
		}
	}
}

// abandoned tells whether a container's owner is dead. Where that cannot be
// known, only a container that does not run counts as left behind. One that is
// being removed is not: an engine may be stuck in that for as long as it lives,
// and to ask again takes as long as the wait for an answer.
func abandoned(labels map[string]string, state container.ContainerState, created time.Time, here host, startOf func(int) (string, error)) bool {
	if state == container.StateRemoving {
		return false
	}
	switch ownerState(labels, here, startOf) {
	case OwnerDead:
		return true
	case OwnerElsewhere:
		ended := state == container.StateCreated || state == container.StateExited || state == container.StateDead
		return ended && time.Since(created) > sweepAge
	default:
		return false
	}
}

// An OwnerState tells what is known of the process that made a container.
type OwnerState string

const (
	// OwnerAlive is a process that lives.
	OwnerAlive OwnerState = "alive"
	// OwnerDead is a process that is surely gone.
	OwnerDead OwnerState = "dead"
	// OwnerElsewhere is one of another boot, name space or machine, whose
	// processes cannot be looked at from here.
	OwnerElsewhere OwnerState = "elsewhere"
	// OwnerHidden is one of this machine that may not be looked at.
	OwnerHidden OwnerState = "hidden"
)

// ownerState looks at the owner that the labels name.
func ownerState(labels map[string]string, here host, startOf func(int) (string, error)) OwnerState {
	pid, err := strconv.Atoi(labels[labelPID])
	known := err == nil && here.known && labels[labelStart] != "" &&
		labels[labelBoot] == here.boot && labels[labelPIDNS] == here.pidns
	if !known {
		return OwnerElsewhere
	}
	start, err := startOf(pid)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return OwnerDead
	case err != nil:
		return OwnerHidden
	case start != labels[labelStart]:
		return OwnerDead // the number is another process's now
	default:
		return OwnerAlive
	}
}
