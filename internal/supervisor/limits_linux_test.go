package supervisor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCgroupLimits(t *testing.T) {
	// Limits that say nothing of what no control group knows.
	limits := func(memory, swap, milliCPUs, pids int64) Limits {
		return Limits{Memory: memory, Swap: swap, MilliCPUs: milliCPUs, Pids: pids, NoFile: Unknown, Processors: Unknown, FileSize: Unknown, NoNewPrivs: Unknown, Seccomp: Unknown}
	}
	for _, test := range []struct {
		name   string
		groups map[string]string
		files  map[string]string
		inside bool
		want   Limits
	}{
		{
			"version 2, its own name space", map[string]string{"": "/"},
			map[string]string{"memory.max": "1048576", "memory.swap.max": "0", "cpu.max": "150000 100000", "pids.max": "64"},
			true, limits(1<<20, 0, 1500, 64),
		},
		{
			"version 2, the host's name space", map[string]string{"": "/docker/one"},
			map[string]string{
				"docker/one/memory.max": "1048576", "docker/one/memory.swap.max": "4096",
				"docker/one/cpu.max": "50000 100000", "docker/one/pids.max": "64", "pids.max": "1",
			},
			false, limits(1<<20, 4096, 500, 64),
		},
		{
			"version 2 without limits", map[string]string{"": "/"},
			map[string]string{"memory.max": "max", "memory.swap.max": "max", "cpu.max": "max 100000", "pids.max": "max"},
			true, limits(Unlimited, Unlimited, Unlimited, Unlimited),
		},
		{
			"version 1", map[string]string{"memory": "/docker/one", "cpu": "/docker/one", "pids": "/docker/one"},
			map[string]string{
				"memory/memory.limit_in_bytes": "1048576", "memory/memory.memsw.limit_in_bytes": "1048576",
				"cpu/cpu.cfs_quota_us": "200000", "cpu/cpu.cfs_period_us": "100000", "pids/pids.max": "64",
			},
			true, limits(1<<20, 0, 2000, 64),
		},
		{
			"version 1 without limits", map[string]string{"memory": "/", "cpu": "/", "pids": "/"},
			map[string]string{
				"memory/memory.limit_in_bytes": "9223372036854771712", "memory/memory.memsw.limit_in_bytes": "9223372036854771712",
				"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000", "pids/pids.max": "max",
			},
			true, limits(Unlimited, Unlimited, Unlimited, Unlimited),
		},
		{
			"the top of the host is not the container's", map[string]string{},
			map[string]string{"pids.max": "64", "memory/memory.limit_in_bytes": "1048576"},
			false, limits(Unknown, Unknown, Unknown, Unknown),
		},
		{"nothing", map[string]string{}, nil, true, limits(Unknown, Unknown, Unknown, Unknown)},
		{
			"not numbers", map[string]string{"": "/"},
			map[string]string{"memory.max": "much", "cpu.max": "1 0", "pids.max": ""},
			true, limits(Unknown, Unknown, Unknown, Unknown),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			top := t.TempDir()
			for name, text := range test.files {
				file := filepath.Join(top, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(test.want, cgroups{top: top, of: test.groups}.limits(test.inside)); diff != "" {
				t.Errorf("limits (-want +got):\n%s", diff)
			}
		})
	}
}
