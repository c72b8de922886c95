package docker_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
)

// TestMemoryExhausted goes over the memory in every kind of sandbox. The status
// is the same; with a runtime that has no counters the sandbox ends as well.
func TestMemoryExhausted(t *testing.T) {
	engine := connect(t)
	for _, test := range []struct {
		name string
		cmd  sandbox.Command
	}{
		{"script", sandbox.Command{Script: "echo ready; tail /dev/zero"}},
		{"shell replaced", sandbox.Command{Script: "echo ready; exec tail /dev/zero"}},
		{"argv", sandbox.Command{Args: []string{"sh", "-c", "echo ready; tail /dev/zero"}}},
		{"time limit", sandbox.Command{Script: "echo ready; tail /dev/zero", Timeout: 10 * time.Minute}},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := newSpec(t, os.Getuid(), os.Getgid())
			spec.Limits.Memory = 192 * sandbox.MiB
			sb := start(t, engine, spec)
			for _, limit := range sb.Info().Readings {
				if limit.Limit == "memory" && !limit.InForce() {
					t.Fatalf("the limit on memory is not in force, so the machine would be exhausted: %s", limit)
				}
			}
			got := execute(t, sb, test.cmd)
			if got.err != nil {
				t.Fatal(got.err)
			}
			if got.result.Status != sandbox.OutOfMemory || got.result.OOMKills < 1 {
				t.Errorf("%s with %d kills, want out_of_memory with at least one; output %q", describe(got.result), got.result.OOMKills, got.output)
			}
			if !strings.HasPrefix(got.output, "ready\n") {
				t.Errorf("output %q lacks what was written before", got.output)
			}
			if !sb.Info().Capabilities.Counters {
				wantLost(t, execute(t, sb, sandbox.Command{Script: "exit 3"}))
				return
			}
			script(t, sb, "true")
		})
	}
}

// TestMemoryExhaustedBesideAnother has another command run when the memory is
// exhausted. The limit is the sandbox's, so that one is told of it as well.
func TestMemoryExhaustedBesideAnother(t *testing.T) {
	engine := connect(t)
	spec := newSpec(t, os.Getuid(), os.Getgid())
	spec.Limits.Memory = 192 * sandbox.MiB
	sb := start(t, engine, spec)
	wait := background(t, sb, sandbox.Command{Script: "echo ready; until [ -e go ]; do sleep 0.1; done; exit 5"})
	execute(t, sb, sandbox.Command{Script: "tail /dev/zero"})
	if err := os.WriteFile(filepath.Join(spec.Workspace, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := wait(); got.err != nil || got.result.Status != sandbox.OutOfMemory {
		t.Errorf("the other command: %s, %v, want out_of_memory", describe(got.result), got.err)
	}
}

// TestProcessesExhausted goes over the number of processes in every kind of
// sandbox. With a runtime that is a kernel of its own the sandbox ends as well.
func TestProcessesExhausted(t *testing.T) {
	engine := connect(t)
	spec := newSpec(t, os.Getuid(), os.Getgid())
	ends := !engine.CapabilitiesOf(spec.Runtime).Counters
	if !ends {
		spec.Limits.Pids = 64
	}
	sb := start(t, engine, spec)
	script(t, sb, "true")
	if ends {
		limitThreads(t, observe(t, engine), sb.Info().ID, 20)
	}
	// A shell would try each fork again for a quarter of a minute.
	got := execute(t, sb, sandbox.Command{Args: []string{"python3", "-c",
		"import os, time\nfor i in range(500):\n    if os.fork() == 0: time.sleep(600)\n"}})
	if got.err != nil {
		t.Fatal(got.err)
	}
	if got.result.Status != sandbox.PidsLimit || got.result.ForkFailures < 1 {
		t.Errorf("%s with %d failed forks, want pids_limit with at least one; output %q", describe(got.result), got.result.ForkFailures, got.output)
	}
	if ends {
		wantLost(t, execute(t, sb, sandbox.Command{Script: "exit 3"}))
		return
	}
	script(t, sb, "true")
}

// limitThreads leaves a container on this machine room for some threads more,
// of however many it may have.
func limitThreads(t *testing.T, seen observer, id string, more int) {
	t.Helper()
	found, err := seen.ContainerInspect(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/cgroup", found.State.Pid))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		parts := strings.SplitN(lines.Text(), ":", 3)
		dir := filepath.Join("/sys/fs/cgroup", parts[1], parts[2]) // of either version
		text, err := os.ReadFile(filepath.Join(dir, "pids.current"))
		if err != nil {
			continue
		}
		now, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "pids.max"), []byte(strconv.Itoa(now+more)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatal("the container has no control group that counts processes")
}
