package docker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
)

// newName is a name for a container that no other has.
func newName() string {
	var suffix [6]byte
	_, _ = rand.Read(suffix[:]) // never fails, see crypto/rand
	return "belljar-" + hex.EncodeToString(suffix[:])
}

// create makes a container of that name. It is not given up half-way, since an
// engine goes on with what it was asked for: the caller's context is looked at
// later, when there is something to remove. Where the engine's answer is lost
// the container is removed by its name.
func (e *Engine) create(ctx context.Context, config *container.Config, host *container.HostConfig, name string) (container.CreateResponse, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startBound)
	defer cancel()
	created, err := e.api.ContainerCreate(ctx, config, host, nil, nil, name)
	if err != nil && unanswered(err) {
		e.removeNamed(name, createWait)
	}
	return created, err
}

// unanswered tells that the engine was asked and its answer did not come.
func unanswered(err error) bool {
	if dialFailed(err) {
		return false
	}
	var op *net.OpError
	return client.IsErrConnectionFailed(err) || errors.As(err, &op) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// createWait is how long an engine whose answer was lost may need to list a
// container that it makes all the same.
const createWait = 5 * time.Second

// removeNamed removes a container that may yet come to be. What is not there
// within the bound, or cannot be looked for now, is looked for once more before
// the next one is started: an engine that is busy may make it later.
func (e *Engine) removeNamed(name string, bound time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		_, err := e.api.ContainerInspect(ctx, name)
		switch {
		case err == nil:
			err = e.remove(name)
			if err != nil {
				e.log.Warn("removing a container whose making was not answered", "container", name, "error", err)
			}
			return
		case !isNotFound(err):
			e.remember(name)
			return
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			e.remember(name)
			return
		}
	}
}
