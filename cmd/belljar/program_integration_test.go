//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/belljar/belljar/images"
	"github.com/belljar/belljar/internal/enginetest"
)

// hang is the time after which something that should have ended is called a
// hang. It says nothing about how fast things should be.
const hang = 2 * time.Minute

// A program is the static belljar as it is shipped, with an observer of its own
// at the engine.
type program struct {
	path   string
	home   string // HOME and state of what is run
	socket string // of the engine, "" when it has none
	seen   *testcontainers.DockerClient
}

// TestProgram runs the built program where only that counts: its process, its
// user, its memory.
func TestProgram(t *testing.T) {
	p := newProgram(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *program)
	}{
		{"Killed", testProgramKilled},
		{"KilledWithProxy", testProgramKilledWithProxy},
		{"KilledDev", testProgramKilledDev},
		{"Stopped", testProgramStopped},
		{"Interrupted", testProgramInterrupted},
		{"Lost", testProgramLost},
		{"AnotherUser", testAnotherUser},
		{"WorkspaceRefused", testWorkspaceRefused},
		{"Memory", testProgramMemory},
		{"Canary", testCanary},
		{"FilesAttacked", testFilesAttacked},
		{"OwnTools", testOwnTools},
		{"GoTool", testGoTool},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, p) })
	}
}

func newProgram(t *testing.T) *program {
	t.Helper()
	engine := enginetest.Require(t, "")
	if _, err := engine.EnsureImage(t.Context(), images.Tag(), os.Stderr); err != nil {
		t.Fatal(err)
	}
	host := engine.Endpoint().Host
	t.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true")
	t.Setenv("DOCKER_HOST", host)
	api, err := testcontainers.NewDockerClientWithOpts(t.Context(), client.WithHost(host))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Close() })
	p := &program{seen: api, home: sharedDir(t)}
	if path, ok := bytes.CutPrefix([]byte(host), []byte("unix://")); ok {
		p.socket = string(path)
	}
	if p.path, err = enginetest.Binary(t.Context(), sharedDir(t)); err != nil {
		t.Fatal(err)
	}
	return p
}

// sharedDir makes a folder that other users can enter, which they cannot with
// those of t.TempDir.
func sharedDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "belljar-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// command is belljar with arguments, in a new workspace unless dir names one.
func (p *program) command(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*hang)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, p.path, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+p.home, "XDG_CACHE_HOME=", "XDG_CONFIG_HOME=", configVariable+"=", "BELLJAR_STATE_DIR="+filepath.Join(p.home, "state"), "PWD="+dir)
	return cmd
}

// An outcome of a program is what it wrote and ended with.
type ran struct {
	code           int
	stdout, stderr string
}

// run runs a command to its end.
func run(t *testing.T, cmd *exec.Cmd) ran {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return ran{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// containersOf lists the containers that a process made.
func (p *program) containersOf(t *testing.T, pid int) []container.Summary {
	t.Helper()
	list, err := p.seen.ContainerList(t.Context(), container.ListOptions{
		All: true, Filters: filters.NewArgs(filters.Arg("label", "belljar.pid="+strconv.Itoa(pid))),
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// wantGone checks that a container is gone, or is within the bound.
func (p *program) wantGone(t *testing.T, id string, bound time.Duration) {
	t.Helper()
	for end := time.Now().Add(bound); ; time.Sleep(50 * time.Millisecond) {
		_, err := p.seen.ContainerInspect(t.Context(), id)
		if errdefs.IsNotFound(err) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if time.Now().After(end) {
			t.Errorf("container %.12s is still there after %v", id, bound)
			return
		}
	}
}
