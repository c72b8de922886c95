package docker

import (
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/system"
	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/supervisor"
	"github.com/belljar/belljar/sandbox"
)

// TestReadingsFill takes each limit from the most telling source that knows it.
func TestReadingsFill(t *testing.T) {
	const unknown = supervisor.Unknown
	pids := int64(64)
	readings := askedReadings(sandbox.Limits{Memory: 1 << 20, CPUs: 1.5, Pids: 64, NoFile: 100, Tmp: 1, Home: 2, Shm: 3, Disk: 7})
	readings = append(readings, askedGuards()...)
	fill(readings, supervisor.Limits{
		Memory: unknown, Swap: unknown, MilliCPUs: unknown, Pids: unknown, NoFile: 100, Processors: 2, Sizes: []int64{1, 2, 3},
		FileSize: 7, NoNewPrivs: 1, Seccomp: 0,
	}, sandbox.FromInside)
	fill(readings, supervisor.Limits{
		Memory: 1 << 20, Swap: unknown, MilliCPUs: 1500, Pids: unknown, NoFile: 5, Processors: unknown,
		FileSize: unknown, NoNewPrivs: unknown, Seccomp: unknown,
	}, sandbox.FromHost)
	if !unread(readings) {
		t.Error("nothing is left to read, but swap and pids are unknown")
	}
	host := &container.HostConfig{}
	host.Memory, host.MemorySwap, host.PidsLimit = 5, -1, &pids
	fill(readings, setByEngine(host, system.Info{MemoryLimit: true, PidsLimit: true}), sandbox.FromEngine)
	want := []sandbox.Reading{
		{Limit: "memory", Asked: 1 << 20, Found: 1 << 20, Source: sandbox.FromHost},
		{Limit: "swap", Asked: 0, Found: sandbox.NoLimit, Source: sandbox.FromEngine},
		{Limit: "cpus", Asked: 1.5, Found: 1.5, Source: sandbox.FromHost},
		{Limit: "nofile", Asked: 100, Found: 100, Source: sandbox.FromInside},
		{Limit: "tmp", Asked: 1, Found: 1, Source: sandbox.FromInside},
		{Limit: "home", Asked: 2, Found: 2, Source: sandbox.FromInside},
		{Limit: "shm", Asked: 3, Found: 3, Source: sandbox.FromInside},
		{Limit: "pids", Asked: 64, Found: 64, Source: sandbox.FromEngine},
		{Limit: "fsize", Asked: 7, Found: 7, Source: sandbox.FromInside},
		{Limit: "no_new_privs", Asked: 1, Found: 1, Source: sandbox.FromInside},
		{Limit: "seccomp", Asked: 2, Found: 0, Source: sandbox.FromInside},
	}
	if diff := cmp.Diff(want, readings); diff != "" {
		t.Errorf("readings (-want +got):\n%s", diff)
	}
	if missing := sandbox.Missing(readings); len(missing) != 2 || missing[0].Limit != "swap" || missing[1].Limit != "seccomp" {
		t.Errorf("missing = %v, want swap and seccomp alone", missing)
	}
}

// TestSetByEngine believes an engine in what it can hold.
func TestSetByEngine(t *testing.T) {
	pids := int64(64)
	host := &container.HostConfig{}
	host.Memory, host.MemorySwap, host.NanoCPUs, host.PidsLimit, host.CpusetCpus = 5, 7, 2e9, &pids, "0-2"
	all := system.Info{MemoryLimit: true, SwapLimit: true, CPUCfsQuota: true, PidsLimit: true, CPUSet: true}
	const none = supervisor.Unlimited
	for _, test := range []struct {
		name   string
		change func(*system.Info)
		want   supervisor.Limits
	}{
		{"all", func(*system.Info) {}, supervisor.Limits{Memory: 5, Swap: 2, MilliCPUs: 2000, Pids: 64, Processors: 3}},
		{"no control groups", func(i *system.Info) { *i = system.Info{} },
			supervisor.Limits{Memory: none, Swap: none, MilliCPUs: none, Pids: none, Processors: none}},
		{"memory alone", func(i *system.Info) { *i = system.Info{MemoryLimit: true} },
			supervisor.Limits{Memory: 5, Swap: none, MilliCPUs: none, Pids: none, Processors: none}},
		{"no accounting of swap", func(i *system.Info) { i.SwapLimit = false },
			supervisor.Limits{Memory: 5, Swap: none, MilliCPUs: 2000, Pids: 64, Processors: 3}},
	} {
		t.Run(test.name, func(t *testing.T) {
			can := all
			test.change(&can)
			test.want.NoFile, test.want.FileSize = supervisor.Unknown, supervisor.Unknown
			test.want.NoNewPrivs, test.want.Seccomp = supervisor.Unknown, supervisor.Unknown
			if diff := cmp.Diff(test.want, setByEngine(host, can)); diff != "" {
				t.Errorf("limits (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGuardsReadBack believes no engine in that it filters system calls: what
// the first supervisor finds decides.
func TestGuardsReadBack(t *testing.T) {
	limits := sandbox.Limits{Memory: 1 << 20, CPUs: 1, NoFile: 100}
	inside := supervisor.Limits{
		Memory: 1 << 20, MilliCPUs: 1000, Pids: supervisor.Unknown, NoFile: 100, Processors: 2, FileSize: supervisor.Unlimited,
		NoNewPrivs: 1, Seccomp: 2,
	}
	for _, test := range []struct {
		name               string
		newPrivs, filter   int64
		declared, allowed  bool
		loosened, mentions []string
		stays              bool
	}{
		{"both", 1, 2, true, false, nil, nil, true},
		{"no filter", 1, 0, true, false, []string{"seccomp=not in force"}, []string{"seccomp (2 asked for, 0 in force)", "filter of system calls"}, false},
		{"no filter, accepted", 1, 0, true, true, []string{"seccomp=not in force"}, nil, false},
		{"new privileges", 0, 2, true, false, []string{"no_new_privs=not in force"}, []string{"no_new_privs (1 asked for, 0 in force)"}, false},
		{"not declared", 0, 0, false, false, nil, nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := &box{info: sandbox.Info{Capabilities: sandbox.Capabilities{Seccomp: test.declared}}}
			found := inside
			found.NoNewPrivs, found.Seccomp = test.newPrivs, test.filter
			err := b.checkLimits(t.Context(), &plan{spec: sandbox.Spec{Limits: limits, AllowMissingLimits: test.allowed}}, &found)
			if (err != nil) != (test.mentions != nil) {
				t.Fatalf("error = %v, want one that mentions %q", err, test.mentions)
			}
			for _, words := range test.mentions {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("error = %q, want %q in it", err, words)
				}
			}
			if diff := cmp.Diff(test.loosened, b.info.Loosened); diff != "" {
				t.Errorf("loosened (-want +got):\n%s", diff)
			}
			if b.info.Capabilities.Seccomp != test.stays {
				t.Errorf("Capabilities.Seccomp = %v, want %v", b.info.Capabilities.Seccomp, test.stays)
			}
		})
	}
}
