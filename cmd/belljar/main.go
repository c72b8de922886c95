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
	a := newApp(func(ctx context.Context, opts docker.Options) (engine, error) { return docker.Connect(ctx, opts) })
	os.Exit(a.run(context.Background(), os.Args[1:]))
}
