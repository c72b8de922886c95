package docker

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"github.com/belljar/belljar/internal/oneline"
)

// removeBound is how long the removal of a container may take.
const removeBound = 30 * time.Second

// selfRemoval is how long the engine is given to remove a container that has
// ended by itself, before it is told to.
const selfRemoval = 5 * time.Second

// ownEnd is how long a container whose lease was given up has to end by itself
// before it is killed. It takes a tenth of a second; for a kill the engine runs
// a program, which takes as long again.
const ownEnd = time.Second

// remove kills and removes a container and returns when it is gone. One that
// stays is remembered: while it may still run, no other is started.
func (e *Engine) remove(id string) error { return e.removeAfter(id, 0) }

// removeAfter is remove for a container that may end by itself before.
func (e *Engine) removeAfter(id string, patience time.Duration) error {
	if err := e.end(id, patience); err != nil {
		e.remember(id)
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.left, id)
	return nil
}

// remember has a container looked for before the next one is started.
func (e *Engine) remember(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.left == nil {
		e.left = map[string]struct{}{}
	}
	e.left[id] = struct{}{}
}

// removeLeft removes the containers that could not be removed before, such as
// while the engine was being restarted. What runs in them shares a workspace
// with what is to be started.
func (e *Engine) removeLeft() error {
	e.mu.Lock()
	ids := sortedKeys(e.left)
	e.mu.Unlock()
	var errs []error
	for _, id := range ids {
		errs = append(errs, e.remove(id))
	}
	return oneline.Join(errs...)
}

// end ends a container, after some patience, and returns when it is removed.
//
// A container that runs is only killed, since the engine removes it then: an
// engine that is told to remove what it is removing already was seen to list
// the container for ever.
func (e *Engine) end(id string, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), removeBound)
	defer cancel()
	removed := e.removal(ctx, id)
	start := time.Now()
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		found, err := e.api.ContainerInspect(ctx, id)
		switch {
		case err != nil && isNotFound(err):
			return nil
		case err != nil && client.IsErrConnectionFailed(err) && time.Since(start) > selfRemoval:
			return fmt.Errorf("removing container %.12s: %w (it ends by itself within a minute)", id, err)
		case err != nil:
		case found.State.Running && time.Since(start) < patience:
		case found.State.Running:
			err = e.api.ContainerKill(ctx, id, "KILL")
		case found.State.Status == container.StateCreated || time.Since(start) > selfRemoval:
			err = e.api.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
		}
		select {
		case <-removed:
			removed = nil // looked at again, since not every engine means it
		case <-time.After(wait):
		case <-ctx.Done():
			return fmt.Errorf("removing container %.12s: %w (it ends by itself within a minute)", id, cmp.Or(err, ctx.Err()))
		}
	}
}

// removal asks the engine to tell when it has removed a container, which it
// does sooner than it can be found out. The channel is closed then, and never
// by an engine that does not answer the question. The end of the context ends
// the question.
func (e *Engine) removal(ctx context.Context, id string) <-chan struct{} {
	removed := make(chan struct{})
	go func() {
		// The client waits until one of them is taken.
		gone, failed := e.api.ContainerWait(ctx, id, container.WaitConditionRemoved)
		select {
		case <-gone:
			close(removed)
		case <-failed:
		}
	}()
	return removed
}
