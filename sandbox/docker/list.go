package docker

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/belljar/belljar/sandbox"
)

// A Listed is a container on the engine that belljar made.
type Listed struct {
	// ID is the container's.
	ID string `json:"id"`
	// Session is the session that it was started for, "" where there is none.
	Session string `json:"session"`
	// PID is the number of the process that owns it, 0 where it names none.
	PID   int        `json:"pid"`
	Owner OwnerState `json:"owner"`
	Image string     `json:"image"`
	// State is the engine's word for it, such as "running".
	State   string    `json:"state"`
	Created time.Time `json:"created"`
	// Workspace is the host folder at the mount point, "" where there is none.
	Workspace string `json:"workspace"`
}

// List describes the containers that belljar made, the newest first, those of
// other processes and users of the engine included.
func (e *Engine) List(ctx context.Context) ([]Listed, error) {
	found, err := e.containers(ctx)
	if err != nil {
		return nil, err
	}
	here, err := thisHost()
	if err != nil {
		return nil, err
	}
	var list []Listed
	for _, c := range found {
		list = append(list, describe(c, here))
	}
	slices.SortStableFunc(list, func(a, b Listed) int { return b.Created.Compare(a.Created) })
	return list, nil
}

func describe(c container.Summary, here host) Listed {
	pid, _ := strconv.Atoi(c.Labels[labelPID]) // 0 where it is none
	l := Listed{
		ID: c.ID, Session: c.Labels[labelSession], PID: pid, Owner: ownerState(c.Labels, here, processStart),
		Image: c.Image, State: string(c.State), Created: time.Unix(c.Created, 0).UTC(),
	}
	for _, m := range c.Mounts {
		if m.Destination == sandbox.MountPoint {
			l.Workspace = m.Source
		}
	}
	return l
}
