package docker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/user"
	"runtime"
	"strings"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/client"

	"github.com/belljar/belljar/internal/oneline"
)

// MinAPIVersion is the oldest version of the engine's API that belljar works
// with, that of Docker Engine 20.10.
const MinAPIVersion = "1.41"

// connectTimeout bounds the attempt at one endpoint. An engine that lives
// answers in milliseconds; one that hangs must not hide the next candidate.
const connectTimeout = 5 * time.Second

// infoTimeout bounds the questions for what an engine is and has, once it has
// answered. Podman gathers that anew for either, which took it four seconds on a
// busy machine.
const infoTimeout = 30 * time.Second

// maxIdleConns bounds the connections that are kept open between calls.
const maxIdleConns = 6

// ErrNoEngine is wrapped by Connect when no endpoint has a usable engine.
var ErrNoEngine = errors.New("no container engine answers")

// Connect finds an engine, agrees on an API version with it and returns it. The
// caller closes it. Endpoints are those of Resolve with the environment of this
// process; DOCKER_API_VERSION fixes the version. An error that wraps ErrNoEngine
// names in one line each endpoint that was tried, how it failed and what to do.
func Connect(ctx context.Context, opts Options) (*Engine, error) {
	getenv := processEnv
	endpoints, err := Resolve(opts, getenv)
	if err != nil {
		return nil, err
	}
	return connectFirst(ctx, endpoints, opts, getenv("DOCKER_API_VERSION"))
}

// processEnv is os.Getenv, save that HOME and XDG_RUNTIME_DIR, which services
// and sudo leave unset, fall back to what the system says of the user.
func processEnv(name string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	switch name {
	case "HOME":
		if account, err := user.Current(); err == nil {
			return account.HomeDir
		}
	case "XDG_RUNTIME_DIR":
		if runtime.GOOS == "linux" {
			return fmt.Sprintf("/run/user/%d", os.Getuid())
		}
	}
	return ""
}

// connectFirst returns the first endpoint's engine that can be used.
func connectFirst(ctx context.Context, endpoints []Endpoint, opts Options, apiVersion string) (*Engine, error) {
	log := opts.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	var failures []*connectError
	for _, endpoint := range endpoints {
		engine, err := connect(ctx, endpoint, opts, log, apiVersion)
		if err == nil {
			return engine, nil
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("connecting to %s: %w", endpoint, context.Cause(ctx))
		}
		log.Debug("endpoint failed", "endpoint", endpoint.String(), "error", err)
		failures = append(failures, explain(endpoint, err))
	}
	return nil, noEngineError(failures)
}

// connect makes an Engine of one endpoint, within connectTimeout and infoTimeout.
func connect(ctx context.Context, endpoint Endpoint, opts Options, log *slog.Logger, apiVersion string) (_ *Engine, err error) {
	api, err := newClient(endpoint, apiVersion)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = oneline.Join(err, api.Close())
		}
	}()
	version, info, err := probe(ctx, endpoint, api)
	if version.APIVersion != "" { // what fails beside may come of the version
		if err := checkVersions(version, apiVersion, api.ClientVersion()); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	api.NegotiateAPIVersionPing(types.Ping{APIVersion: version.APIVersion})
	starts := opts.Starts
	if starts == nil {
		starts = NewStarts()
	}
	return &Engine{api: api, endpoint: endpoint, version: version, info: info, opts: opts, log: log, starts: starts}, nil
}

// newClient makes the client of an endpoint. Nothing is sent yet.
func newClient(endpoint Endpoint, apiVersion string) (*client.Client, error) {
	transport := &http.Transport{MaxIdleConns: maxIdleConns, MaxIdleConnsPerHost: maxIdleConns, IdleConnTimeout: 30 * time.Second}
	if endpoint.TLS != nil {
		config, err := endpoint.TLS.config()
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig = config
	}
	return client.NewClientWithOpts(
		client.WithHTTPClient(&http.Client{Transport: transport, CheckRedirect: client.CheckRedirect}),
		client.WithHost(endpoint.Host),
		client.WithUserAgent("belljar"),
		client.WithVersion(apiVersion),
		client.WithAPIVersionNegotiation(),
	)
}

// Close gives up the idle connections to the engine. Sandboxes are not touched;
// they are closed by whoever started them.
func (e *Engine) Close() error { return e.api.Close() }

// Endpoint returns the address of the engine.
func (e *Engine) Endpoint() Endpoint { return e.endpoint }

// Version returns the engine's version, such as "20.10.24".
func (e *Engine) Version() string {
	// Distributions add a suffix, "20.10.24+dfsg1", that tells nothing here.
	version, _, _ := strings.Cut(e.version.Version, "+")
	return version
}

// APIVersion returns the version of the API that both sides agreed on.
func (e *Engine) APIVersion() string { return e.api.ClientVersion() }

// Description names the engine and its version for a reader, such as
// "Docker Engine 20.10.24" or "Podman 4.3.1".
func (e *Engine) Description() string {
	name := "Docker Engine"
	if e.version.podman() {
		name = "Podman"
	}
	return name + " " + e.Version()
}

// Local reports whether the engine is reached over a socket of this machine.
func (e *Engine) Local() bool { return e.endpoint.Local() }

// Rootless reports whether the engine runs in a user namespace, so that root in
// a container is the user who runs the engine.
func (e *Engine) Rootless() bool {
	for _, option := range e.info.SecurityOptions {
		if option == "rootless" || option == "name=rootless" || strings.HasPrefix(option, "name=rootless,") {
			return true
		}
	}
	return false
}
