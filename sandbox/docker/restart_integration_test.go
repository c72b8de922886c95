//go:build linux && engines

package docker_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belljar/belljar/internal/enginetest"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/docker"
	"github.com/belljar/belljar/sandbox/renew"
)

// A service is an engine that something starts again when it is killed, as
// .ci/engine-current does. Its process numbers and its configuration lie beside
// its socket.
type service struct {
	*docker.Engine
	seen observer
	dir  string
}

// The programs of a service, named as their files of process numbers are.
const (
	dockerd    = "docker"
	containerd = "containerd"
)

// connectService returns the engine that the environment names, which no other
// test may use meanwhile.
func connectService(t *testing.T) service {
	t.Helper()
	socket, ok := strings.CutPrefix(os.Getenv(enginetest.HostVariable), "unix://")
	if !ok {
		t.Fatalf("%s names no socket of an engine that may be killed: .ci/engine-current runs one", enginetest.HostVariable)
	}
	engine := connect(t)
	return service{engine, observe(t, engine), filepath.Dir(socket)}
}

// pid is the process number of a program, 0 while there is none.
func (s service) pid(t *testing.T, program string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, program+".pid"))
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Error(err)
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text))) // 0 while it is being written
	return pid
}

// kill kills a program and returns when its process is gone. It may be called
// from any goroutine.
func (s service) kill(t *testing.T, program string) {
	t.Helper()
	pid := s.pid(t, program)
	if pid <= 1 {
		t.Errorf("%s/%s.pid names no process", s.dir, program)
		return
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("killing %s: %v", program, err)
	}
	eventually(t, hang, program+" is gone", func() bool {
		return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	})
}

// await returns when the engine answers again.
func (s service) await(t *testing.T) {
	t.Helper()
	eventually(t, hang, "the engine answers again", func() bool {
		_, err := s.seen.Ping(context.WithoutCancel(t.Context())) // also at the end of a test
		return err == nil
	})
}

// liveRestore sets whether containers outlive the engine, for as long as the
// test runs. The engine reads it when it is started.
func (s service) liveRestore(t *testing.T, on bool) {
	t.Helper()
	set := func(on bool) {
		text := []byte(`{"live-restore": ` + strconv.FormatBool(on) + "}\n")
		if err := os.WriteFile(filepath.Join(s.dir, "daemon.json"), text, 0o644); err != nil {
			t.Fatal(err)
		}
		s.kill(t, dockerd)
		s.await(t)
	}
	set(on)
	t.Cleanup(func() { set(false) })
}

// start starts a sandbox. Close may fail while the engine is away.
func (s service) start(t *testing.T, spec sandbox.Spec) sandbox.Sandbox {
	t.Helper()
	sb, err := s.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { within(t, hang, "Close", func() { _ = sb.Close() }) })
	return sb
}

// wantNoneLeft checks that all containers of a session are gone or go.
func (s service) wantNoneLeft(t *testing.T, session string) {
	t.Helper()
	eventually(t, selfEnd, "the containers of the session are gone", func() bool {
		return len(s.seen.labeled(t, "belljar.session="+session)) == 0
	})
}

// modes are the ways in which containers meet the end of the engine.
var modes = map[string]bool{"containers end": false, "containers live on": true}

// TestRestartKilled kills the engine before and during a command. The sandbox
// is lost, in one line, and the next one works.
func TestRestartKilled(t *testing.T) {
	service := connectService(t)
	for mode, live := range modes {
		t.Run(mode, func(t *testing.T) {
			service.liveRestore(t, live)
			for _, test := range []struct {
				name  string
				meets func(*testing.T, sandbox.Sandbox) answer
			}{
				{"before a command", func(t *testing.T, sb sandbox.Sandbox) answer {
					script(t, sb, "echo works")
					service.kill(t, dockerd)
					return execute(t, sb, sandbox.Command{Script: "exit 3"})
				}},
				{"before a command that comes later", func(t *testing.T, sb sandbox.Sandbox) answer {
					script(t, sb, "echo works")
					service.kill(t, dockerd)
					service.await(t)
					return execute(t, sb, sandbox.Command{Script: "exit 3"})
				}},
				{"during a command", func(t *testing.T, sb sandbox.Sandbox) answer {
					wait := background(t, sb, sandbox.Command{Script: "echo ready; sleep 300; exit 3"})
					service.kill(t, dockerd)
					return wait()
				}},
				{"during output", func(t *testing.T, sb sandbox.Sandbox) answer {
					wait := background(t, sb, sandbox.Command{Script: "echo ready; while :; do echo more; sleep 0.01; done"})
					service.kill(t, dockerd)
					return wait()
				}},
				{"during a program", func(t *testing.T, sb sandbox.Sandbox) answer {
					wait := background(t, sb, sandbox.Command{Args: []string{"sh", "-c", "echo ready; exec sleep 300"}})
					service.kill(t, dockerd)
					return wait()
				}},
			} {
				t.Run(test.name, func(t *testing.T) {
					spec := newSpec(t, os.Getuid(), os.Getgid())
					spec.Session = newSession()
					sb := service.start(t, spec)
					wantLost(t, test.meets(t, sb))
					wantLost(t, execute(t, sb, sandbox.Command{Script: "exit 3"}))
					service.await(t)
					within(t, hang, "Close", func() {
						if err := sb.Close(); err != nil && strings.Contains(err.Error(), "\n") {
							t.Errorf("Close says %q, which is more than one line", err)
						}
					})
					next := service.start(t, spec)
					if got := script(t, next, "echo next"); got != "next\n" {
						t.Errorf("in the next sandbox: %q", got)
					}
					if err := next.Close(); err != nil {
						t.Errorf("closing the next sandbox: %v", err)
					}
					service.wantNoneLeft(t, spec.Session)
				})
			}
		})
	}
}

// TestRestartContainerd kills what the engine itself uses. A command may go on,
// and then it ends as it would.
func TestRestartContainerd(t *testing.T) {
	service := connectService(t)
	spec := newSpec(t, os.Getuid(), os.Getgid())
	spec.Session = newSession()
	sb := service.start(t, spec)
	wait := background(t, sb, sandbox.Command{Script: "echo ready; sleep 3; echo done; exit 3"})
	service.kill(t, containerd)
	wantRight(t, wait(), 3, "ready\ndone\n")
	for i := range 10 {
		wantRight(t, execute(t, sb, sandbox.Command{Script: "echo more; exit " + strconv.Itoa(i)}), i, "more\n")
	}
	within(t, hang, "Close", func() { _ = sb.Close() })
	service.await(t)
	eventually(t, hang, "a sandbox starts again", func() bool {
		next, err := service.Start(t.Context(), spec)
		if err != nil {
			t.Log(err)
			return false
		}
		defer next.Close()
		return script(t, next, "echo next") == "next\n"
	})
	service.wantNoneLeft(t, spec.Session)
}

// wantRight checks that a command ended as it would by itself, or with an error
// that is of one line.
func wantRight(t testing.TB, got answer, code int, output string) {
	t.Helper()
	switch {
	case got.err != nil:
		if strings.Contains(got.err.Error(), "\n") {
			t.Errorf("%q is more than one line", got.err)
		}
	case got.result.Status != sandbox.Exited || *got.result.ExitCode != code || got.output != output:
		t.Errorf("a wrong result: %s, output %q, want exit code %d and %q", describe(got.result), got.output, code, output)
	}
}

// TestRestartRenewed goes on in another sandbox, over the same workspace.
func TestRestartRenewed(t *testing.T) {
	service := connectService(t)
	for mode, live := range modes {
		t.Run(mode, func(t *testing.T) {
			service.liveRestore(t, live)
			spec := newSpec(t, os.Getuid(), os.Getgid())
			spec.Session = newSession()
			first := service.start(t, spec)
			sb := renew.New(first, service, spec, renew.Options{})
			t.Cleanup(func() { within(t, hang, "Close", func() { _ = sb.Close() }) })
			for i := range renew.DefaultMax {
				wait := background(t, sb, sandbox.Command{Script: "echo x >>kept; echo ready; sleep 300"})
				service.kill(t, dockerd)
				var renewed *sandbox.RenewedError
				if got := wait(); !errors.As(got.err, &renewed) || renewed.Count != i+1 {
					t.Fatalf("error = %v, want renewal %d", got.err, i+1)
				}
				if got := script(t, sb, "wc -l <kept"); strings.TrimSpace(got) != strconv.Itoa(i+1) {
					t.Errorf("kept %q lines, want %d", got, i+1)
				}
			}
			if err := sb.Close(); err != nil {
				t.Error(err)
			}
			service.wantNoneLeft(t, spec.Session)
		})
	}
}

// TestRestartDuringStart kills the engine while sandboxes start.
func TestRestartDuringStart(t *testing.T) {
	service := connectService(t)
	spec := newSpec(t, os.Getuid(), os.Getgid())
	spec.Session = newSession()
	for i := range 8 {
		ended := make(chan error, 1) // one answer, so the sender never waits
		go func() {
			sb, err := service.Start(t.Context(), spec)
			if err == nil {
				_ = sb.Close()
			}
			ended <- err
		}()
		time.Sleep(time.Duration(i) * 80 * time.Millisecond) // another moment each time
		service.kill(t, dockerd)
		within(t, hang, "Start", func() {
			if err := <-ended; err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is more than one line", err)
			}
		})
		service.await(t)
		sb := service.start(t, spec)
		if got := script(t, sb, "echo next"); got != "next\n" {
			t.Errorf("after it: %q", got)
		}
		if err := sb.Close(); err != nil {
			t.Error(err)
		}
	}
	service.wantNoneLeft(t, spec.Session)
}
