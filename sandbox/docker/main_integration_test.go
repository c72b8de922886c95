package docker_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/belljar/belljar/images"
	"github.com/belljar/belljar/internal/enginetest"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/docker"
	"github.com/belljar/belljar/sandbox/sandboxtest"
)

// A testHelper is the executable that runs inside containers, built when the
// first test wants it: the test's own is neither static nor small.
type testHelper struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// helper is shared by the tests of the package; TestMain removes what it made.
var helper testHelper

// helperVariable tells a test in another process, which is killed and cannot
// clean up, where the helper is.
const helperVariable = "BELLJAR_TEST_HELPER"

func (h *testHelper) build() (string, error) {
	h.once.Do(func() {
		if h.path = os.Getenv(helperVariable); h.path != "" {
			return
		}
		if h.dir, h.err = os.MkdirTemp("", "belljar-test-"); h.err != nil {
			return
		}
		// Other users run it too, in the tests of ownership.
		if h.err = os.Chmod(h.dir, 0o755); h.err != nil {
			return
		}
		h.path, h.err = enginetest.Supervisor(context.Background(), h.dir)
	})
	return h.path, h.err
}

func TestMain(m *testing.M) {
	code := m.Run()
	if helper.dir != "" {
		if err := os.RemoveAll(helper.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// connect returns an engine with the default image on it.
func connect(t testing.TB) *docker.Engine {
	t.Helper()
	// Without an engine there is nothing to build for.
	_ = enginetest.Require(t, "")
	path, err := helper.build()
	if err != nil {
		t.Fatal(err)
	}
	engine := enginetest.Require(t, path)
	if _, err := engine.EnsureImage(context.Background(), images.Tag(), os.Stderr); err != nil {
		t.Fatal(err)
	}
	return engine
}

// newSpec asks for a sandbox on a new workspace that belongs to uid:gid, with the
// runtime that the environment names.
func newSpec(t testing.TB, uid, gid int) sandbox.Spec {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	return sandbox.Spec{
		Workspace: dir, Owner: sandbox.Owner{UID: uid, GID: gid, Umask: 0o022}, Image: images.Tag(),
		Limits: sandbox.Limits{Memory: 256 * sandbox.MiB}, Runtime: os.Getenv(enginetest.RuntimeVariable),
		AllowMissingLimits: os.Getenv(enginetest.MissingLimitsVariable) != "",
	}
}

// An onRuntime is an engine with one of its runtimes, which specs ask for.
type onRuntime struct {
	*docker.Engine
	name string
}

func (r onRuntime) Capabilities() sandbox.Capabilities { return r.CapabilitiesOf(r.name) }

// chosen is the engine with the runtime that the environment names.
func chosen(engine *docker.Engine) onRuntime {
	return onRuntime{engine, os.Getenv(enginetest.RuntimeVariable)}
}

func TestConformance(t *testing.T) {
	engine := connect(t)
	sandboxtest.TestRuntime(t, sandboxtest.Config{
		Runtime: chosen(engine), Bash: true,
		Spec: func(t *testing.T) sandbox.Spec { return newSpec(t, os.Getuid(), os.Getgid()) },
	})
}

func BenchmarkExec(b *testing.B) {
	sandboxtest.BenchmarkExec(b, connect(b), newSpec(b, os.Getuid(), os.Getgid()))
}
