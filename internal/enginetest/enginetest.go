// Package enginetest gives tests a container engine, or skips them for a
// reason. Only tests import it.
//
// The environment variable BELLJAR_TEST_ENGINE says what is done where no
// engine answers: "auto" (the default) skips with the reason, "require" fails,
// "skip" skips without looking for one. BELLJAR_TEST_HOST is the address of the
// engine, where it is not the usual one, and BELLJAR_TEST_RUNTIME one of its
// runtimes for the conformance suite. BELLJAR_TEST_MISSING_LIMITS, set to
// anything, goes on where the engine cannot hold a limit.
package enginetest

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/belljar/belljar/sandbox/docker"
)

// Variable is the environment variable that says what to do without an engine.
const Variable = "BELLJAR_TEST_ENGINE"

// HostVariable and RuntimeVariable are the environment variables that name an
// engine and one of its runtimes; unset, they are the usual engine and its
// default runtime. MissingLimitsVariable is the one that allows for limits that
// the engine cannot hold.
const (
	HostVariable          = "BELLJAR_TEST_HOST"
	RuntimeVariable       = "BELLJAR_TEST_RUNTIME"
	MissingLimitsVariable = "BELLJAR_TEST_MISSING_LIMITS"
)

// A mode is a value of the variable.
type mode string

const (
	auto    mode = "auto"
	require mode = "require"
	skip    mode = "skip"
)

// modeOf reads the value of the variable. An unknown one is an error: a typing
// mistake must not turn a failure into a skip.
func modeOf(value string) (mode, error) {
	switch m := mode(value); m {
	case "":
		return auto, nil
	case auto, require, skip:
		return m, nil
	default:
		return "", fmt.Errorf("%s is %q; it is auto, require or skip", Variable, value)
	}
}

// Require connects to the engine that the environment names and returns it; it
// is closed at the end of the test. helper is the executable that is mounted
// into containers, such as Binary gives; "" is the running test itself, which
// then must be static and serve as supervisor. Without an engine the test is
// skipped or failed as the environment says.
func Require(t testing.TB, helper string) *docker.Engine {
	t.Helper()
	m, err := modeOf(os.Getenv(Variable))
	if err != nil {
		t.Fatal(err)
	}
	if m == skip {
		t.Skipf("%s=skip", Variable)
	}
	engine, err := docker.Connect(t.Context(), docker.Options{Host: os.Getenv(HostVariable), Helper: helper})
	if err != nil {
		if m == require {
			t.Fatalf("%s=require: %v", Variable, err)
		}
		t.Skipf("no engine: %v", err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Errorf("closing the engine: %v", err)
		}
	})
	return engine
}

// BinaryVariable is the environment variable that names a static belljar which
// is ready for tests, so that they need not build one.
const BinaryVariable = "BELLJAR_TEST_BINARY"

// program is the package that BinaryVariable must be built from.
const program = "github.com/belljar/belljar/cmd/belljar"

// Binary returns the path of a static belljar: the one that the environment
// names, else one that it builds in dir with the Go tool, from within the
// module.
func Binary(ctx context.Context, dir string) (string, error) {
	if path := os.Getenv(BinaryVariable); path != "" {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("%s: %w", BinaryVariable, err)
		}
		// The program of the tests takes a fake for the engine, which would run on
		// the host what the tests mean for a container.
		if info.Path != program {
			return "", fmt.Errorf("%s: %s is %s and not %s; build it with: make build", BinaryVariable, path, info.Path, program)
		}
		return path, nil
	}
	return build(ctx, dir, "belljar")
}

// Supervisor builds the program that runs inside containers in dir and returns
// its path. It is much quicker to build and to start than the whole belljar.
func Supervisor(ctx context.Context, dir string) (string, error) {
	return build(ctx, dir, "belljar-supervisor")
}

// build makes a static program of cmd/ with the Go tool.
func build(ctx context.Context, dir, name string) (string, error) {
	path := filepath.Join(dir, name)
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", path, "github.com/belljar/belljar/cmd/"+name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", name, err, out)
	}
	return path, nil
}
