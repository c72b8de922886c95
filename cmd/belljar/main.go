// Command belljar runs an LLM coding agent, or any command, on a folder while
// everything it executes stays inside a resource-limited container.
package main

import (
	"context"
	"os"
	"runtime/debug"

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
	tuneMemory()
	os.Exit(newApp(connectDocker).run(context.Background(), os.Args[1:]))
}

const (
	// collectPercent lets a short run end before the first collection, which
	// would come at 4 MiB of heap.
	collectPercent = 400
	// memoryGoal is where collections come as often as it takes, in bytes: half
	// of the 64 MiB that a run may take. A quarter is the program itself.
	memoryGoal = 32 << 20
)

// tuneMemory sets when the memory of this process is collected, unless the
// user has (GOGC, GOMEMLIMIT).
func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryGoal)
	}
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
