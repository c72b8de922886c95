package docker_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
)

// A command that stops whatever is being started for the next ones costs time,
// and not the sandbox.
func TestStoppedWhileStarting(t *testing.T) {
	engine := connect(t)
	profiles := []sandbox.Profile{sandbox.ProfileStrict}
	if os.Getuid() == 0 { // only root may signal commands that are root
		profiles = append(profiles, sandbox.ProfileDev)
	}
	for _, profile := range profiles {
		t.Run(string(profile), func(t *testing.T) {
			spec := newSpec(t, os.Getuid(), os.Getgid())
			spec.Profile = profile
			stopWhileStarting(t, start(t, engine, spec))
		})
	}
}

func stopWhileStarting(t *testing.T, sb sandbox.Sandbox) {
	t.Helper()
	beside := awaiting("begun")
	ended := make(chan answer, 1)
	go func() {
		result, err := sb.Exec(t.Context(), sandbox.Command{
			Script: "echo begun; until test -e over; do sleep 0.1; done; echo went on", Stdout: beside,
		})
		ended <- answer{result, err, beside.String()}
	}()
	<-beside.seen
	for round, script := range []string{
		"while :; do kill -STOP -1; done",
		"sleep 0.05; kill -STOP -1; sleep 600",
		"while :; do kill -STOP -1; read -t 0.01 < /dev/zero; done",
	} {
		// So that spares are being started when it begins.
		for range 3 {
			if got := try(t.Context(), sb, sandbox.Command{Script: "echo quick"}); got.err != nil || got.output != "quick\n" {
				t.Fatalf("round %d, before: %s %v", round, describe(got.result), got.err)
			}
		}
		// With two seconds, what is done for a start that hangs comes in between.
		got := try(t.Context(), sb, sandbox.Command{Script: script, Timeout: time.Duration(1+round%2) * time.Second})
		if got.err != nil || got.result.Status != sandbox.TimedOut {
			t.Fatalf("%s: %s %v", script, describe(got.result), got.err)
		}
		for n := range 3 {
			want := fmt.Sprintf("next %d\n", n)
			if got := try(t.Context(), sb, sandbox.Command{Script: "echo " + want}); got.err != nil || got.output != want {
				t.Fatalf("after %s: %s %v", script, describe(got.result), got.err)
			}
		}
	}
	if got := try(t.Context(), sb, sandbox.Command{Script: "echo > over"}); got.err != nil {
		t.Fatal(got.err)
	}
	select {
	case got := <-ended:
		if got.err != nil || got.result.Status != sandbox.Exited || got.output != "begun\nwent on\n" {
			t.Errorf("the command beside: %s %v, %q", describe(got.result), got.err, got.output)
		}
	case <-time.After(hang):
		t.Error("a command beside those was not continued")
	}
}
