package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/docker/docker/client"
	"github.com/google/go-cmp/cmp"
)

// home is a home folder with a Docker configuration of the test's choice.
type home struct {
	t   *testing.T
	dir string
	env map[string]string
}

func newHome(t *testing.T) *home {
	t.Helper()
	// Paths of sockets are short, shorter than what TempDir makes of the name
	// of a subtest.
	dir, err := os.MkdirTemp("", "bj")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &home{t: t, dir: dir, env: map[string]string{"HOME": dir, "USERPROFILE": dir}}
}

func (h *home) getenv(name string) string { return h.env[name] }

func (h *home) write(name, content string) string {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

func (h *home) context(name, meta string) string {
	h.t.Helper()
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	h.write(".docker/contexts/meta/"+id+"/meta.json", meta)
	return id
}

func (h *home) socket(name string) {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { listener.Close() })
}

func TestResolveOrder(t *testing.T) {
	const (
		work = `{"Name":"work","Endpoints":{"docker":{"Host":"unix:///work.sock"}}}`
		play = `{"Name":"play","Endpoints":{"docker":{"Host":"unix:///play.sock"}}}`
	)
	tests := []struct {
		name   string
		opts   Options
		env    map[string]string
		config string
		want   Endpoint
	}{
		{
			name:   "flag host first",
			opts:   Options{Host: "unix:///flag.sock"},
			env:    map[string]string{"DOCKER_HOST": "unix:///env.sock", "DOCKER_CONTEXT": "work"},
			config: `{"currentContext":"play"}`,
			want:   Endpoint{Host: "unix:///flag.sock", Source: "--host"},
		},
		{
			name:   "flag context before environment",
			opts:   Options{Context: "play"},
			env:    map[string]string{"DOCKER_HOST": "unix:///env.sock", "DOCKER_CONTEXT": "work"},
			config: `{}`,
			want:   Endpoint{Host: "unix:///play.sock", Source: `--context "play"`},
		},
		{
			name:   "DOCKER_HOST before DOCKER_CONTEXT",
			env:    map[string]string{"DOCKER_HOST": "unix:///env.sock", "DOCKER_CONTEXT": "work"},
			config: `{"currentContext":"play"}`,
			want:   Endpoint{Host: "unix:///env.sock", Source: "DOCKER_HOST"},
		},
		{
			name:   "DOCKER_CONTEXT before current context",
			env:    map[string]string{"DOCKER_CONTEXT": "work"},
			config: `{"currentContext":"play"}`,
			want:   Endpoint{Host: "unix:///work.sock", Source: `DOCKER_CONTEXT "work"`},
		},
		{
			name:   "current context before default socket",
			config: `{"currentContext":"play","auths":{"x":{}}}`,
			want:   Endpoint{Host: "unix:///play.sock", Source: `current context "play"`},
		},
		{
			name:   "current context default is none",
			config: `{"currentContext":"default"}`,
			want:   Endpoint{Host: client.DefaultDockerHost, Source: "default socket"},
		},
		{
			name: "nothing set",
			want: Endpoint{Host: client.DefaultDockerHost, Source: "default socket"},
		},
		{
			name: "flag context default takes DOCKER_HOST",
			opts: Options{Context: "default"},
			env:  map[string]string{"DOCKER_HOST": "unix:///env.sock"},
			want: Endpoint{Host: "unix:///env.sock", Source: "DOCKER_HOST"},
		},
		{
			name:   "DOCKER_CONTEXT default overrides current context",
			env:    map[string]string{"DOCKER_CONTEXT": "default"},
			config: `{"currentContext":"play"}`,
			want:   Endpoint{Host: client.DefaultDockerHost, Source: `context "default"`},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := newHome(t)
			h.context("work", work)
			h.context("play", play)
			if test.config != "" {
				h.write(".docker/config.json", test.config)
			}
			for name, value := range test.env {
				h.env[name] = value
			}
			got, err := Resolve(test.opts, h.getenv)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got[0]); diff != "" {
				t.Errorf("first endpoint (-want +got):\n%s", diff)
			}
			if named := test.want.Source != "default socket"; named && len(got) != 1 {
				t.Errorf("a named endpoint is followed by %v", got[1:])
			}
		})
	}
}

func TestResolveDockerConfigFolder(t *testing.T) {
	h := newHome(t)
	h.write("elsewhere/config.json", `{"currentContext":"gone"}`)
	h.env["DOCKER_CONFIG"] = filepath.Join(h.dir, "elsewhere")
	_, err := Resolve(Options{}, h.getenv)
	if err == nil || !strings.Contains(err.Error(), `current context "gone" does not exist`) {
		t.Errorf("error = %v, want one about the missing context", err)
	}
}

func TestResolveOtherSockets(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has named pipes")
	}
	h := newHome(t)
	h.env["XDG_RUNTIME_DIR"] = filepath.Join(h.dir, "run")
	h.socket("run/podman/podman.sock")
	h.socket("run/docker.sock")
	h.socket(".docker/desktop/docker.sock")
	h.write(".docker/run/docker.sock", "a file is no socket")
	got, err := Resolve(Options{}, h.getenv)
	if err != nil {
		t.Fatal(err)
	}
	var found []Endpoint
	for _, endpoint := range got[1:] {
		// The machine's own Podman is none of the test's business.
		if strings.Contains(endpoint.Host, h.dir) {
			found = append(found, endpoint)
		}
	}
	want := []Endpoint{
		{Host: "unix://" + h.dir + "/run/docker.sock", Source: "rootless Docker"},
		{Host: "unix://" + h.dir + "/.docker/desktop/docker.sock", Source: "Docker Desktop"},
		{Host: "unix://" + h.dir + "/run/podman/podman.sock", Source: "rootless Podman"},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("sockets (-want +got):\n%s", diff)
	}
}

func TestResolveTLS(t *testing.T) {
	h := newHome(t)
	ca, cert, key := h.write("certs/ca.pem", "x"), h.write("certs/cert.pem", "x"), h.write("certs/key.pem", "x")
	certs := filepath.Join(h.dir, "certs")
	id := h.context("far", `{"Endpoints":{"docker":{"Host":"tcp://far:2376"}}}`)
	farCA := h.write(".docker/contexts/tls/"+id+"/docker/ca.pem", "x")
	h.context("loose", `{"Endpoints":{"docker":{"Host":"tcp://loose","SkipTLSVerify":true}}}`)
	homeCA := h.write(".docker/ca.pem", "x")

	tests := []struct {
		name string
		opts Options
		env  map[string]string
		want Endpoint
	}{
		{
			name: "verified",
			env:  map[string]string{"DOCKER_HOST": "tcp://host", "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": certs},
			want: Endpoint{Host: "tcp://host:2376", Source: "DOCKER_HOST", TLS: &TLSFiles{CA: ca, Cert: cert, Key: key}},
		},
		{
			name: "certificates in the configuration folder",
			env:  map[string]string{"DOCKER_HOST": "tcp://host", "DOCKER_TLS_VERIFY": "1"},
			want: Endpoint{Host: "tcp://host:2376", Source: "DOCKER_HOST", TLS: &TLSFiles{CA: homeCA}},
		},
		{
			name: "not verified",
			env:  map[string]string{"DOCKER_HOST": "tcp://host:1", "DOCKER_TLS": "1", "DOCKER_CERT_PATH": certs},
			want: Endpoint{Host: "tcp://host:1", Source: "DOCKER_HOST", TLS: &TLSFiles{CA: ca, Cert: cert, Key: key, SkipVerify: true}},
		},
		{
			name: "a certificate path alone is not TLS",
			env:  map[string]string{"DOCKER_HOST": "tcp://host", "DOCKER_CERT_PATH": certs},
			want: Endpoint{Host: "tcp://host:2375", Source: "DOCKER_HOST"},
		},
		{
			name: "a socket never has TLS",
			env:  map[string]string{"DOCKER_HOST": "unix:///x.sock", "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": certs},
			want: Endpoint{Host: "unix:///x.sock", Source: "DOCKER_HOST"},
		},
		{
			name: "context with a certificate",
			opts: Options{Context: "far"},
			want: Endpoint{Host: "tcp://far:2376", Source: `--context "far"`, TLS: &TLSFiles{CA: farCA}},
		},
		{
			name: "context that skips verification",
			opts: Options{Context: "loose"},
			want: Endpoint{Host: "tcp://loose:2376", Source: `--context "loose"`, TLS: &TLSFiles{SkipVerify: true}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			getenv := func(name string) string {
				if value, ok := test.env[name]; ok {
					return value
				}
				return h.getenv(name)
			}
			got, err := Resolve(test.opts, getenv)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]Endpoint{test.want}, got); diff != "" {
				t.Errorf("endpoints (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResolveErrors(t *testing.T) {
	tests := []struct {
		name   string
		opts   Options
		env    string
		config string
		want   string
	}{
		{name: "both flags", opts: Options{Host: "a", Context: "b"}, want: "exclude each other"},
		{name: "ssh", env: "ssh://me@far", want: "cannot see the workspace"},
		{name: "ssh context", opts: Options{Context: "ssh"}, want: "cannot see the workspace"},
		{name: "path without scheme", opts: Options{Host: "/run/x.sock"}, want: "write unix:///run/x.sock"},
		{name: "relative socket", env: "unix://x.sock", want: "no absolute path"},
		{name: "unknown scheme", env: "fd://3", want: "unknown scheme"},
		{name: "no host", env: "tcp://", want: "tcp://host:port"},
		{name: "missing context", opts: Options{Context: "gone"}, want: `--context "gone" does not exist; "docker context ls"`},
		{name: "context without engine", opts: Options{Context: "kube"}, want: "names no Docker engine"},
		{name: "broken context", opts: Options{Context: "broken"}, want: `--context "broken": reading it`},
		{name: "broken configuration", config: `{`, want: "config.json"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := newHome(t)
			h.context("ssh", `{"Endpoints":{"docker":{"Host":"ssh://me@far"}}}`)
			h.context("kube", `{"Endpoints":{"kubernetes":{}}}`)
			h.context("broken", `[`)
			if test.config != "" {
				h.write(".docker/config.json", test.config)
			}
			h.env["DOCKER_HOST"] = test.env
			got, err := Resolve(test.opts, h.getenv)
			if err == nil {
				t.Fatalf("no error, but %v", got)
			}
			if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error = %q, want one line with %q", err, test.want)
			}
		})
	}
}

func TestParseHost(t *testing.T) {
	tests := []struct {
		in     string
		secure bool
		want   string
	}{
		{in: "tcp://1.2.3.4:5", want: "tcp://1.2.3.4:5"},
		{in: "tcp://[::1]", want: "tcp://[::1]:2375"},
		{in: "tcp://[::1]:7", secure: true, want: "tcp://[::1]:7"},
		{in: "engine", secure: true, want: "tcp://engine:2376"},
		{in: "engine:9", want: "tcp://engine:9"},
		{in: "http://engine", want: "tcp://engine:2375"},
		{in: "https://engine/base/", want: "tcp://engine:2376/base"},
		{in: " unix:///a b.sock ", want: "unix:///a b.sock"},
		{in: "unix://", want: client.DefaultDockerHost},
	}
	for _, test := range tests {
		t.Run(test.in, func(t *testing.T) {
			got, err := parseHost(test.in, test.secure)
			if err != nil || got != test.want {
				t.Errorf("parseHost(%q, %v) = %q, %v; want %q", test.in, test.secure, got, err, test.want)
			}
		})
	}
}

func FuzzParseHost(f *testing.F) {
	for _, seed := range []string{"", "unix:///x", "tcp://[::1]:2", "://", "tcp://a:b:c", "ssh://x", "/x", "tcp://%zz"} {
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, host string, secure bool) {
		got, err := parseHost(host, secure)
		if err != nil {
			return
		}
		// What is accepted must be an address that the client takes, and stay
		// what it is when it is read again.
		if _, err := client.ParseHostURL(got); err != nil {
			t.Errorf("parseHost(%q) = %q, which the client refuses: %v", host, got, err)
		}
		again, err := parseHost(got, secure)
		if err != nil || again != got {
			t.Errorf("parseHost(%q) = %q, read again %q, %v", host, got, again, err)
		}
	})
}
