package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// listenUnix serves handler on a new Unix socket and returns its address.
func listenUnix(t *testing.T, handler http.Handler) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "bj")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "engine.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		os.RemoveAll(dir)
	})
	return "unix://" + path
}

// refuse answers with an engine's error.
func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	respond(w, map[string]string{"message": message})
}

// respond writes value as an engine does.
func respond(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

// versionedEngine says that it takes those versions of the API.
func versionedEngine(oldest, newest, info string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_ping", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "OK") })
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, map[string]string{"Version": "20.10.24+dfsg1", "ApiVersion": newest, "MinAPIVersion": oldest})
	})
	mux.HandleFunc("GET /info", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, info) })
	return mux
}

func TestConnectVersions(t *testing.T) {
	tests := []struct {
		name           string
		oldest, newest string
		fixed          string
		wantAPI        string
		wantErr        string
	}{
		{name: "20.10", oldest: "1.12", newest: "1.41", wantAPI: "1.41"},
		{name: "as new as the client", oldest: "1.24", newest: "1.51", wantAPI: "1.51"},
		{name: "fixed", oldest: "1.41", newest: "1.45", fixed: "1.41", wantAPI: "1.41"},
		{name: "too old", oldest: "1.12", newest: "1.40", wantErr: "update it to Docker Engine 20.10 or newer"},
		{name: "too new", oldest: "1.60", newest: "1.70", wantErr: "update belljar"},
		{name: "fixed too low for belljar", oldest: "1.12", newest: "1.45", fixed: "1.30", wantErr: "belljar needs 1.41"},
		{name: "fixed out of range", oldest: "1.44", newest: "1.51", fixed: "1.43", wantErr: "speaks API versions 1.44 to 1.51: unset it"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			host := listenUnix(t, versionedEngine(test.oldest, test.newest, `{"SecurityOptions":["name=seccomp,profile=default"]}`))
			engine, err := connectFirst(t.Context(), []Endpoint{{Host: host, Source: "test"}}, Options{}, test.fixed)
			if test.wantErr != "" {
				wantLine(t, err, ErrNoEngine, host, test.wantErr)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer engine.Close()
			if got := engine.APIVersion(); got != test.wantAPI {
				t.Errorf("API version = %s, want %s", got, test.wantAPI)
			}
			if got, want := engine.Description(), "Docker Engine 20.10.24"; got != want {
				t.Errorf("description = %q, want %q", got, want)
			}
			if engine.Rootless() || !engine.Local() || engine.Endpoint().Host != host {
				t.Errorf("rootless %v, local %v, endpoint %v", engine.Rootless(), engine.Local(), engine.Endpoint())
			}
		})
	}
}

// wantLine checks that err wraps target and is one line holding every part.
func wantLine(t *testing.T, err, target error, parts ...string) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("error = %v, want one that wraps %q", err, target)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error has several lines: %q", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error = %q, want %q in it", err, part)
		}
	}
}

// TestConnectNewerEngine: an engine whose range goes beyond the client's still
// shares its newest version.
func TestConnectNewerEngine(t *testing.T) {
	host := listenUnix(t, versionedEngine("1.51", "1.60", `{}`))
	engine, err := connectFirst(t.Context(), []Endpoint{{Host: host}}, Options{}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	if got := engine.APIVersion(); got != "1.51" {
		t.Errorf("API version = %s, want the client's newest, 1.51", got)
	}
}

func TestConnectPodmanRootless(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_ping", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "OK") })
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, map[string]any{
			"Version": "4.3.1", "ApiVersion": "1.41", "MinAPIVersion": "1.24",
			"Components": []map[string]string{{"Name": "Podman Engine"}, {"Name": "Conmon"}},
		})
	})
	mux.HandleFunc("GET /info", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, map[string]any{"SecurityOptions": []string{"name=seccomp,profile=default", "name=rootless"}})
	})
	engine, err := connectFirst(t.Context(), []Endpoint{{Host: listenUnix(t, mux)}}, Options{}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	if got, want := engine.Description(), "Podman 4.3.1"; got != want {
		t.Errorf("description = %q, want %q", got, want)
	}
	if !engine.Rootless() {
		t.Error("the engine is not seen as rootless")
	}
}

func TestConnectFallsThrough(t *testing.T) {
	missing := "unix://" + filepath.Join(t.TempDir(), "none.sock")
	good := listenUnix(t, versionedEngine("1.24", "1.43", `{}`))
	engine, err := connectFirst(t.Context(), []Endpoint{{Host: missing}, {Host: deadSocket(t)}, {Host: good}}, Options{}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	if got := engine.Endpoint().Host; got != good {
		t.Errorf("endpoint = %s, want %s", got, good)
	}
}

// deadSocket is the socket of an engine that was killed.
func deadSocket(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dead.sock")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	listener.SetUnlinkOnClose(false)
	listener.Close()
	return "unix://" + path
}

func TestConnectNamesEveryFailure(t *testing.T) {
	missing := "unix://" + filepath.Join(t.TempDir(), "none.sock")
	dead := deadSocket(t)
	web := listenUnix(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<h1>hello\n") }))
	broken := listenUnix(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusServiceUnavailable) }))
	_, err := connectFirst(t.Context(), []Endpoint{
		{Host: missing, Source: "default socket"},
		{Host: dead, Source: "rootless Docker"},
		{Host: web, Source: "web"},
		{Host: broken, Source: "broken"},
	}, Options{}, "")
	wantLine(t, err, ErrNoEngine,
		missing+" (default socket): no such socket",
		dead+" (rootless Docker): connection refused",
		web+" (web): what answers there is no container engine",
		broken+` (broken): it answers "503 Service Unavailable"`,
		"start the engine", "DOCKER_HOST",
	)
}

func TestConnectPermission(t *testing.T) {
	failure := explain(Endpoint{Host: "unix:///x", Source: "default socket"},
		&net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.EACCES)})
	err := noEngineError([]*connectError{failure})
	wantLine(t, err, ErrNoEngine, "unix:///x (default socket): permission denied")
	if strings.Contains(err.Error(), "start the engine") {
		t.Errorf("error = %q advises to start an engine that runs", err)
	}
}

func TestConnectHangingEngine(t *testing.T) {
	t.Parallel() // It waits for the whole time limit.
	released := make(chan struct{})
	var asked atomic.Bool
	host := listenUnix(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Store(true)
		select {
		case <-r.Context().Done():
		case <-released:
		}
	}))
	defer close(released)
	start := time.Now()
	_, err := connectFirst(t.Context(), []Endpoint{{Host: host, Source: "test"}}, Options{}, "")
	wantLine(t, err, ErrNoEngine, host+" (test): no answer to /_ping within 5s")
	if !asked.Load() {
		t.Error("the engine was never asked")
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("gave up after %s", took)
	}
}

func TestConnectCanceled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	released := make(chan struct{})
	defer close(released)
	stop := errors.New("the user pressed a key")
	host := listenUnix(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		cancel(stop)
		<-released
	}))
	_, err := connectFirst(ctx, []Endpoint{{Host: host}, {Host: host}}, Options{}, "")
	if !errors.Is(err, stop) || errors.Is(err, ErrNoEngine) {
		t.Errorf("error = %v, want the reason of the cancel", err)
	}
}

func TestConnectTLSFiles(t *testing.T) {
	server := httptest.NewUnstartedServer(versionedEngine("1.24", "1.43", `{}`))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // Refused handshakes are the point.
	server.StartTLS()
	defer server.Close()
	host := "tcp://" + server.Listener.Addr().String()

	engine, err := connectFirst(t.Context(), []Endpoint{{Host: host, TLS: &TLSFiles{SkipVerify: true}}}, Options{}, "")
	if err != nil {
		t.Fatalf("without verification: %v", err)
	}
	if engine.Local() {
		t.Error("a tcp endpoint is called local")
	}
	engine.Close()

	_, err = connectFirst(t.Context(), []Endpoint{{Host: host, TLS: &TLSFiles{}}}, Options{}, "")
	wantLine(t, err, ErrNoEngine, "certificate")

	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = connectFirst(t.Context(), []Endpoint{{Host: host, TLS: &TLSFiles{CA: file}}}, Options{}, "")
	wantLine(t, err, ErrNoEngine, "holds no PEM certificate")
	_, err = connectFirst(t.Context(), []Endpoint{{Host: host, TLS: &TLSFiles{Cert: file}}}, Options{}, "")
	wantLine(t, err, ErrNoEngine, "go together")
}

func TestOneLine(t *testing.T) {
	if got, want := oneLine("a\n\tb\x1b[31m\xff\r\nc "), "a b[31m\uFFFD c"; got != want {
		t.Errorf("oneLine = %q, want %q", got, want)
	}
}
