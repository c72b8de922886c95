package docker_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/belljar/belljar/sandbox/docker"
)

// An observer looks at the engine through a client of its own, so that what is
// said about a container does not come from the code that made it.
type observer struct{ *testcontainers.DockerClient }

// observe returns an observer of the engine. What testcontainers starts is
// removed by the tests themselves; its own reaper would have to be pulled.
func observe(t testing.TB, engine *docker.Engine) observer {
	t.Helper()
	t.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true")
	t.Setenv("DOCKER_HOST", engine.Endpoint().Host)
	api, err := testcontainers.NewDockerClientWithOpts(t.Context(), client.WithHost(engine.Endpoint().Host))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := api.Close(); err != nil {
			t.Errorf("closing the observer: %v", err)
		}
	})
	return observer{api}
}

// inspect returns what the engine knows about a container.
func (o observer) inspect(t testing.TB, id string) container.InspectResponse {
	t.Helper()
	found, err := o.ContainerInspect(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// exists reports whether a container is there.
func (o observer) exists(t testing.TB, id string) bool {
	t.Helper()
	_, err := o.ContainerInspect(context.WithoutCancel(t.Context()), id)
	if err != nil && !gone(err) {
		t.Fatal(err)
	}
	return err == nil
}

// gone tells that an engine does not know a container any more. Podman answers
// a question in the midst of its removal with an error of its own.
func gone(err error) bool {
	return errdefs.IsNotFound(err) || strings.Contains(err.Error(), "no such container")
}

// wantGone checks that a container is removed, or is within the bound.
func (o observer) wantGone(t testing.TB, id string, bound time.Duration) {
	t.Helper()
	eventually(t, bound, "container "+id[:12]+" is gone", func() bool { return !o.exists(t, id) })
}

// labeled lists the containers with a label, those that do not run included.
func (o observer) labeled(t testing.TB, label string) []container.Summary {
	t.Helper()
	for {
		list, err := o.ContainerList(t.Context(), container.ListOptions{
			All: true, Filters: filters.NewArgs(filters.Arg("label", label)),
		})
		switch {
		case err == nil:
			return list
		case !gone(err):
			t.Fatal(err)
		}
	}
}

// removeAtEnd removes a container that the test made itself.
func (o observer) removeAtEnd(t testing.TB, id string) {
	t.Helper()
	t.Cleanup(func() {
		err := o.ContainerRemove(context.Background(), id, container.RemoveOptions{Force: true, RemoveVolumes: true})
		if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) {
			t.Error(err)
		}
	})
}

// awaitExecs waits until a number of execs run in a container. An engine that
// is to pause a container in which it is starting one gets stuck with it, as
// Engine 20.10 was seen to.
func (o observer) awaitExecs(t testing.TB, id string, want int) {
	t.Helper()
	eventually(t, hang, "the execs run", func() bool {
		running := 0
		for _, exec := range o.inspect(t, id).ExecIDs {
			// One may end between the two questions.
			if found, err := o.ContainerExecInspect(t.Context(), exec); err == nil && found.Running && found.Pid > 0 {
				running++
			}
		}
		return running >= want
	})
}
