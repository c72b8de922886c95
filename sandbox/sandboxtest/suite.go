package sandboxtest

import (
	"slices"
	"testing"

	"github.com/belljar/belljar/internal/leaktest"
	"github.com/belljar/belljar/sandbox"
)

// Config says what the suite runs on.
type Config struct {
	// Runtime is the runtime under test. Required. The suite closes every
	// sandbox that it starts.
	Runtime sandbox.Runtime
	// Spec makes a valid specification. Each call returns a workspace of its
	// own that is empty and that Spec.Owner may write. Required. The suite
	// changes limits and adds to the environment; it leaves the rest alone.
	Spec func(t *testing.T) sandbox.Spec
	// Bash is set when the sandbox's shell is bash, so that what only bash
	// has is tested too.
	Bash bool
	// Parts names the parts to run, such as "Status"; nil is all. It is for a
	// further configuration of a runtime that passes the whole suite in its
	// usual one.
	Parts []string
}

// A part is a group of tests that share one condition.
type part struct {
	name  string
	needs func(sandbox.Capabilities) bool
	tests []test
}

// A test is one named check of the contract. It gets no sandbox; it starts or
// shares one through the suite.
type test struct {
	name string
	run  func(t *testing.T, s *suite)
}

// parts lists the whole suite: first what every runtime passes, then a part
// for each capability.
func parts() []part {
	always := func(sandbox.Capabilities) bool { return true }
	return []part{
		{"Status", always, statusTests()},
		{"Script", always, scriptTests()},
		{"Output", always, outputTests()},
		{"Stdin", always, stdinTests()},
		{"Many", always, manyTests()},
		{"End", always, endTests()},
		{"Left", always, leftTests()},
		{"Dir", always, dirTests()},
		{"Env", always, envTests()},
		{"Workspace", always, workspaceTests()},
		{"Mount", always, mountTests()},
		{"Lifecycle", always, lifecycleTests()},
		{"OnePipe", func(c sandbox.Capabilities) bool { return c.OnePipe }, onePipeTests()},
		{"DirAlways", func(c sandbox.Capabilities) bool { return c.Dir }, dirAlwaysTests()},
		{"KillTree", func(c sandbox.Capabilities) bool { return c.KillTree }, killTreeTests()},
		// A fork bomb on a machine without a process limit takes the machine.
		{"ProcessLimit", func(c sandbox.Capabilities) bool { return c.KillTree && c.Limits }, processLimitTests()},
		// Without a memory limit the allocating command takes the machine.
		{"Counters", func(c sandbox.Capabilities) bool { return c.Counters && c.Limits }, counterTests()},
		{"Limits", func(c sandbox.Capabilities) bool { return c.Limits }, limitTests()},
		{"Seccomp", func(c sandbox.Capabilities) bool { return c.Seccomp }, seccompTests()},
		{"Isolated", func(c sandbox.Capabilities) bool { return c.Isolated }, isolationTests()},
		// Where it is not isolated that is the machine's.
		{"FirstProcess", func(c sandbox.Capabilities) bool { return c.Isolated && c.KillTree }, firstProcessTests()},
		{"Protect", func(c sandbox.Capabilities) bool { return c.Protect }, protectTests()},
		{"Unprotected", func(c sandbox.Capabilities) bool { return !c.Protect }, unprotectedTests()},
	}
}

// TestRuntime checks that a runtime keeps the contract of package sandbox: a
// core that every runtime passes and a part for each declared capability,
// each a named subtest. At the end the process must be back to the goroutines
// and open files that it began with, but for a small constant.
//
// It is not for use beside parallel tests, whose goroutines it would count.
func TestRuntime(t *testing.T, cfg Config) {
	if cfg.Runtime == nil || cfg.Spec == nil {
		t.Fatal("sandboxtest: Config needs Runtime and Spec")
	}
	// A client may keep a few idle connections to its engine.
	leaktest.Check(t, 12)
	capabilities := cfg.Runtime.Capabilities()
	for _, name := range cfg.Parts {
		if !slices.ContainsFunc(parts(), func(p part) bool { return p.name == name }) {
			t.Fatalf("sandboxtest: there is no part %q", name)
		}
	}
	for _, part := range parts() {
		if cfg.Parts != nil && !slices.Contains(cfg.Parts, part.name) {
			continue
		}
		if !part.needs(capabilities) {
			t.Logf("%s: not run, for the runtime does not declare it", part.name)
			continue
		}
		t.Run(part.name, func(t *testing.T) {
			s := &suite{cfg: cfg, group: t}
			for _, test := range part.tests {
				t.Run(test.name, func(t *testing.T) { test.run(t, s) })
			}
		})
	}
}
