// Package docker runs sandboxes as containers of a Docker-compatible engine.
// It is the only importer of the Docker client.
package docker

import (
	"log/slog"
	"sync"

	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"
)

// Options say how to reach an engine. The zero value finds it as the Docker
// command line does.
type Options struct {
	// Host is an engine address such as unix:///run/docker.sock, and Context
	// the name of a Docker context; each overrides what the environment says.
	// At most one is set.
	Host, Context string
	// Helper is the Linux executable that is mounted into containers as their
	// supervisor; "" is the one that this program carries, else itself.
	Helper string
	// CacheDir holds small files that are mounted into containers; "" is a
	// belljar folder in the user's cache folder. The engine must be able to
	// see it.
	CacheDir string
	// Starts bound what is being started at once; nil is a bound of this
	// engine's own. A process with several engines gives all of them the same.
	Starts *Starts
	// Log receives what is worth knowing when something goes wrong; nil
	// discards.
	Log *slog.Logger
}

// An Engine is a connection to one engine. It implements sandbox.Runtime.
type Engine struct {
	api      *client.Client
	endpoint Endpoint
	version  engineVersion // What the engine said of itself at the start.
	info     system.Info
	opts     Options
	log      *slog.Logger
	times    leaseTimes // zero: the usual ones
	patience patience   // zero: the usual one
	starts   *Starts

	mu   sync.Mutex
	left map[string]struct{} // containers that could not be removed
}

// DataRoot is the folder on the engine's machine where it keeps images and
// containers, "" where it tells none.
func (e *Engine) DataRoot() string { return e.info.DockerRootDir }
