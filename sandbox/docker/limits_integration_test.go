package docker_test

import (
	"os"
	"strings"
	"testing"

	"github.com/belljar/belljar/sandbox"
)

// TestLimitsReadBack reads back what was asked for, a cpuset included, and lets
// tools see as many processors as there are.
func TestLimitsReadBack(t *testing.T) {
	engine := connect(t)
	spec := newSpec(t, os.Getuid(), os.Getgid())
	spec.Limits.CPUSet = "0"
	spec.Env = []string{"OMP_NUM_THREADS=7"}
	sb := start(t, engine, spec)
	info := sb.Info()
	if info.Limits.CPUs != 1 {
		t.Errorf("Limits.CPUs = %v, want the one processor of the cpuset", info.Limits.CPUs)
	}
	// A kernel of the sandbox's own shows none inside and has none on processes.
	inside := info.Capabilities.Limits
	if want := map[bool]int{true: 12, false: 9}[inside]; len(info.Readings) != want || inside != (len(info.Loosened) == 0) {
		t.Errorf("readings = %v, loosened = %v, want %d readings and nothing loosened but the limit on processes", info.Readings, info.Loosened, want)
	}
	for _, reading := range info.Readings {
		if inside && reading.Source != sandbox.FromInside || !reading.InForce() {
			t.Errorf("%s, read %q", reading, reading.Source)
		}
	}
	if got, want := script(t, sb, "nproc; echo $GOMAXPROCS $OMP_NUM_THREADS"), "7\n1 7\n"; got != want {
		// nproc follows the variable of OpenMP before it counts.
		t.Errorf("processors = %q, want %q", got, want)
	}
	if got := script(t, sb, "env -u OMP_NUM_THREADS nproc"); got != "1\n" {
		t.Errorf("nproc = %q, want 1", got)
	}
}

// TestCPUSetRefused asks for processors that are not there or do not suffice.
func TestCPUSetRefused(t *testing.T) {
	engine := connect(t)
	for _, test := range []struct {
		name, set string
		cpus      float64
		words     string
	}{
		{"no list", "first", 0, "no list of processors"},
		{"too few", "0", 2, "more than the 1 of the cpuset"},
		{"none of the engine's", "4000", 0, "4000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := newSpec(t, os.Getuid(), os.Getgid())
			spec.Limits.CPUSet, spec.Limits.CPUs = test.set, test.cpus
			sb, err := engine.Start(t.Context(), spec)
			if err == nil {
				t.Fatalf("a sandbox was started; closing it: %v", sb.Close())
			}
			if text := err.Error(); !strings.Contains(text, test.words) || strings.Contains(text, "\n") {
				t.Errorf("error = %q, want one line that says %q", text, test.words)
			}
		})
	}
}
