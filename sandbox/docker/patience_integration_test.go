package docker_test

import (
	"os"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/docker"
)

// TestNoCommandBegins gives commands to a sandbox in which nothing answers. Their
// own time bounds the wait, and the sandbox counts as lost, so that a caller may
// go on in another one.
func TestNoCommandBegins(t *testing.T) {
	engine := connect(t)
	docker.SetPatience(engine, 3*time.Second, 6*time.Second)
	// The silence of the paused container must not end it before.
	docker.SetLeaseTimes(engine, time.Second, 10*time.Minute)
	seen := observe(t, engine)
	for _, test := range []struct {
		name    string
		timeout time.Duration
	}{
		{"with a timeout", time.Second},
		{"without one", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			sb := start(t, engine, newSpec(t, os.Getuid(), os.Getgid()))
			id := sb.Info().ID
			seen.awaitExecs(t, id, 2)
			if err := seen.ContainerPause(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			wantLost(t, execute(t, sb, sandbox.Command{Script: "echo begun", Timeout: test.timeout}), "no command can be started")
			wantLost(t, execute(t, sb, sandbox.Command{Script: "echo begun"}), "no command can be started")
			seen.wantGone(t, id, hang)
		})
	}
}
