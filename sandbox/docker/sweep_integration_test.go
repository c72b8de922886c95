//go:build linux

package docker_test

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/belljar/belljar/images"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/docker"
)

// sweeper is the variable that makes TestSweep, run in a process of its own, do
// nothing but sweep.
const sweeper = "BELLJAR_TEST_SWEEP"

// TestSweep sweeps from another process than the one that owns a sandbox.
func TestSweep(t *testing.T) {
	if os.Getenv(sweeper) != "" {
		sweepOnly(t)
		return
	}
	engine := connect(t)
	seen := observe(t, engine)
	sb := start(t, engine, newSpec(t, os.Getuid(), os.Getgid()))
	wait := background(t, sb, sandbox.Command{Script: "echo ready; until test -e go; do sleep 0.05; done; exit 3"})

	labels := seen.inspect(t, sb.Info().ID).Config.Labels
	living := exec.Command("sleep", "300")
	if err := living.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = living.Process.Kill()
		_ = living.Wait() // it was killed, which is an error here
	})
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	livingPID, livingStart := strconv.Itoa(living.Process.Pid), startOf(t, living.Process.Pid)
	cases := []struct {
		name   string
		change map[string]string
		taken  bool
		id     string
	}{
		{name: "the owner lives", change: map[string]string{"belljar.pid": livingPID, "belljar.start": livingStart}},
		{name: "the owner is dead", change: map[string]string{"belljar.pid": strconv.Itoa(dead.Process.Pid), "belljar.start": livingStart}, taken: true},
		{name: "the owner's number is another's now", change: map[string]string{"belljar.pid": livingPID, "belljar.start": "1"}, taken: true},
		{name: "another boot", change: map[string]string{"belljar.pid": "1", "belljar.start": "1", "belljar.boot": "another"}},
		{name: "another name space", change: map[string]string{"belljar.pid": "1", "belljar.start": "1", "belljar.pidns": "pid:[1]"}},
		{name: "not one of ours", change: map[string]string{"belljar": "", "belljar.pid": "1", "belljar.start": "1"}},
	}
	for i := range cases {
		cases[i].id = seen.makeByHand(t, labels, cases[i].change)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	other := exec.CommandContext(t.Context(), self, "-test.run", "^TestSweep$", "-test.timeout", hang.String())
	other.Env = append(os.Environ(), sweeper+"=1", helperVariable+"="+helper.path)
	if out, err := other.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("PASS")) {
		t.Fatalf("sweeping in another process: %v\n%s", err, out)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.taken {
				seen.wantGone(t, c.id, hang) // another belljar may be sweeping it
			} else if !seen.inspect(t, c.id).State.Running {
				t.Error("the container does not run any more")
			}
		})
	}
	script(t, sb, "touch go")
	if got := wait(); got.err != nil || got.result.Status != sandbox.Exited || *got.result.ExitCode != 3 {
		t.Errorf("the live sandbox's command: %s, error %v, want exit code 3", describe(got.result), got.err)
	}
}

// sweepOnly is what the other process does.
func sweepOnly(t *testing.T) {
	t.Helper()
	engine, err := docker.Connect(t.Context(), docker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	if _, err := engine.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// makeByHand starts a container that only its labels tell from others. A label
// that is changed to "" is left out.
func (o observer) makeByHand(t *testing.T, labels, change map[string]string) string {
	t.Helper()
	own := map[string]string{}
	for name, value := range labels {
		if strings.HasPrefix(name, "belljar") {
			own[name] = value
		}
	}
	for name, value := range change {
		own[name] = value
		if value == "" {
			delete(own, name)
		}
	}
	created, err := o.ContainerCreate(t.Context(), &container.Config{
		Image: images.Tag(), Entrypoint: []string{"sleep", "300"}, Labels: own,
	}, &container.HostConfig{NetworkMode: "none"}, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	o.removeAtEnd(t, created.ID)
	if err := o.ContainerStart(t.Context(), created.ID, container.StartOptions{}); err != nil && o.exists(t, created.ID) {
		t.Fatal(err)
	}
	return created.ID
}

// startOf reads when a process was started, see proc(5).
func startOf(t *testing.T, pid int) string {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return strings.Fields(after)[19]
}

// TestSweepKeepsItsOwn sweeps in the process that owns a sandbox.
func TestSweepKeepsItsOwn(t *testing.T) {
	engine := connect(t)
	sb := start(t, engine, newSpec(t, os.Getuid(), os.Getgid()))
	if _, err := engine.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := script(t, sb, "echo still here"); got != "still here\n" {
		t.Errorf("output = %q", got)
	}
}
