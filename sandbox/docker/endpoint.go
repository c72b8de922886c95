package docker

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/docker/docker/client"
)

// An Endpoint is an address at which an engine may answer.
type Endpoint struct {
	// Host is the address with its scheme: unix, npipe or tcp.
	Host string
	// Source says who named the address, in words for a reader, such as
	// "DOCKER_HOST" or "default socket".
	Source string
	// TLS secures a tcp address; nil is plain text.
	TLS *TLSFiles
}

// TLSFiles are the PEM files of a secured endpoint. An empty path is left out.
type TLSFiles struct {
	// CA verifies the engine; "" is the system's roots.
	CA string
	// Cert and Key identify the client. Either both are set or none.
	Cert, Key string
	// SkipVerify accepts any engine.
	SkipVerify bool
}

// Local reports whether the endpoint is a socket of this machine. The engine
// behind it may still run in a virtual machine.
func (e Endpoint) Local() bool {
	return strings.HasPrefix(e.Host, "unix://") || strings.HasPrefix(e.Host, "npipe://")
}

// String returns the address and who named it.
func (e Endpoint) String() string { return e.Host + " (" + e.Source + ")" }

// Resolve returns the endpoints to try, best first, in the order of the Docker
// command line: opts.Host or opts.Context, DOCKER_HOST, DOCKER_CONTEXT, the
// current context of the Docker configuration, the default socket. Something
// that was named is the only answer; where nothing was, the default socket is
// followed by the sockets of other set-ups that exist on this machine. Getenv
// looks up the environment. Errors name the setting that is wrong.
func Resolve(opts Options, getenv func(string) string) ([]Endpoint, error) {
	if opts.Host != "" && opts.Context != "" {
		return nil, errors.New("--host and --context exclude each other: give one of them")
	}
	if opts.Host != "" {
		return single(hostEndpoint(opts.Host, "--host", getenv))
	}
	if opts.Context != "" {
		return single(contextEndpoint(opts.Context, "--context", getenv))
	}
	if host := getenv("DOCKER_HOST"); host != "" {
		return single(hostEndpoint(host, "DOCKER_HOST", getenv))
	}
	if name := getenv("DOCKER_CONTEXT"); name != "" {
		return single(contextEndpoint(name, "DOCKER_CONTEXT", getenv))
	}
	name, err := currentContext(getenv)
	if err != nil {
		return nil, err
	}
	if name != "" && name != defaultContext {
		return single(contextEndpoint(name, "current context", getenv))
	}
	endpoint, err := hostEndpoint(client.DefaultDockerHost, "default socket", getenv)
	if err != nil {
		return nil, err
	}
	return append([]Endpoint{endpoint}, otherSockets(getenv)...), nil
}

func single(endpoint Endpoint, err error) ([]Endpoint, error) {
	if err != nil {
		return nil, err
	}
	return []Endpoint{endpoint}, nil
}

// hostEndpoint makes an endpoint of an address as a person writes it.
func hostEndpoint(host, source string, getenv func(string) string) (Endpoint, error) {
	tls := environmentTLS(getenv)
	address, err := parseHost(host, tls != nil)
	if err != nil {
		return Endpoint{}, fmt.Errorf("%s: %w", source, err)
	}
	endpoint := Endpoint{Host: address, Source: source, TLS: tls}
	if endpoint.Local() {
		endpoint.TLS = nil // A socket of this machine never speaks TLS.
	}
	return endpoint, nil
}

// environmentTLS is what the Docker command line makes of DOCKER_TLS_VERIFY,
// DOCKER_TLS and DOCKER_CERT_PATH: nil unless one of the first two is set.
func environmentTLS(getenv func(string) string) *TLSFiles {
	verify := getenv("DOCKER_TLS_VERIFY") != ""
	if !verify && getenv("DOCKER_TLS") == "" {
		return nil
	}
	dir := getenv("DOCKER_CERT_PATH")
	if dir == "" {
		dir = configDir(getenv)
	}
	tls := tlsFiles(dir)
	tls.SkipVerify = !verify
	return tls
}

// tlsFiles collects those of Docker's three file names that exist in dir.
func tlsFiles(dir string) *TLSFiles {
	existing := func(name string) string {
		if path := filepath.Join(dir, name); isFile(path) {
			return path
		}
		return ""
	}
	return &TLSFiles{CA: existing("ca.pem"), Cert: existing("cert.pem"), Key: existing("key.pem")}
}

// parseHost checks an address and brings it into the form scheme://rest. Like
// the Docker command line it takes a bare host for tcp and knows the two
// registered ports.
func parseHost(host string, secure bool) (string, error) {
	host = strings.TrimSpace(host)
	scheme, rest, ok := strings.Cut(host, "://")
	if !ok {
		if strings.HasPrefix(host, "/") {
			return "", fmt.Errorf("address %q has no scheme: for a socket write unix://%s", host, host)
		}
		scheme, rest = "tcp", host
	}
	switch scheme {
	case "unix":
		if rest == "" {
			return client.DefaultDockerHost, nil
		}
		if !strings.HasPrefix(rest, "/") {
			return "", fmt.Errorf("address %q names no absolute path: write unix:///path/to/docker.sock", host)
		}
		return "unix://" + rest, nil
	case "npipe":
		if runtime.GOOS != "windows" {
			return "", fmt.Errorf("address %q is a named pipe, which only Windows has", host)
		}
		return host, nil
	case "tcp", "http", "https":
		return parseTCP(host, rest, secure || scheme == "https")
	case "ssh":
		return "", fmt.Errorf("address %q is an engine on another machine, which cannot see the workspace: "+
			"run belljar there, or use an engine of this machine", host)
	default:
		return "", fmt.Errorf("address %q has an unknown scheme: use unix://, tcp:// or npipe://", host)
	}
}

func parseTCP(host, rest string, secure bool) (string, error) {
	parsed, err := url.Parse("tcp://" + rest)
	if err != nil || parsed.Hostname() == "" {
		return "", fmt.Errorf("address %q is not of the form tcp://host:port", host)
	}
	port := parsed.Port()
	if port == "" {
		port = "2375"
		if secure {
			port = "2376"
		}
	}
	return "tcp://" + net.JoinHostPort(parsed.Hostname(), port) + strings.TrimRight(parsed.EscapedPath(), "/"), nil
}

// otherSockets returns the sockets that exist where set-ups other than the
// system's Docker put theirs.
func otherSockets(getenv func(string) string) []Endpoint {
	if runtime.GOOS == "windows" {
		return nil
	}
	home, runtimeDir := homeDir(getenv), getenv("XDG_RUNTIME_DIR")
	known := []struct{ dir, name, source string }{
		{runtimeDir, "docker.sock", "rootless Docker"},
		{home, ".docker/run/docker.sock", "Docker in the home folder"},
		{home, ".docker/desktop/docker.sock", "Docker Desktop"},
		{home, ".colima/default/docker.sock", "Colima"},
		{home, ".rd/docker.sock", "Rancher Desktop"},
		{runtimeDir, "podman/podman.sock", "rootless Podman"},
		{home, ".local/share/containers/podman/machine/podman.sock", "Podman machine"},
		{"/run", "podman/podman.sock", "Podman"},
	}
	var found []Endpoint
	for _, socket := range known {
		// An unset variable is no reason to look in the current folder.
		if !filepath.IsAbs(socket.dir) {
			continue
		}
		if path := filepath.Join(socket.dir, socket.name); isSocket(path) {
			found = append(found, Endpoint{Host: "unix://" + path, Source: socket.source})
		}
	}
	return slices.Clip(found)
}
