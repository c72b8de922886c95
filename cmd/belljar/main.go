// Command belljar runs an LLM coding agent, or any command, on a folder while
// everything it executes stays inside a resource-limited container.
package main

import (
	"context"
	"os"

	"github.com/belljar/belljar/internal/supervisor"
	"github.com/belljar/belljar/sandbox/docker"
)

// version and commit are set by the linker; see the Makefile.
var version, commit string

func main() {
	// Inside a container the same executable is its supervisor. That comes
	// before anything else: the supervisor must stay small and quick.
	if supervisor.Wanted(os.Args) {
		os.Exit(supervisor.Main(os.Args))
	}
	os.Exit(newApp(connectDocker).run(context.Background(), os.Args[1:]))
}

// connectDocker reaches a Docker engine. Where it fails the engine is nil: a
// nil *docker.Engine in the interface would not be.
func connectDocker(ctx context.Context, opts docker.Options) (engine, error) {
	connected, err := docker.Connect(ctx, opts)
	if err != nil {
		return nil, err
	}
	return connected, nil
}
