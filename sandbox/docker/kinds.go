package docker

import (
	"fmt"
	"path"
	"strings"

	"github.com/belljar/belljar/sandbox"
)

// Podman reports whether the engine is Podman's service, which answers as an
// engine of Docker does but for what docs/engines.md lists.
func (e *Engine) Podman() bool { return e.version.podman() }

// gvisor reports whether a runtime, "" for the default one, is gVisor: the
// container then has a kernel of its own, in user space. The name of a runtime
// is the operator's choice, so what it starts counts as well.
func (e *Engine) gvisor(runtime string) bool {
	if runtime == "" {
		runtime = e.info.DefaultRuntime
	}
	found := e.info.Runtimes[runtime]
	for _, word := range []string{path.Base(runtime), path.Base(found.Path), found.Type} {
		if strings.Contains(word, "runsc") || strings.Contains(word, "gvisor") {
			return true
		}
	}
	return false
}

// Capabilities tells what containers of the engine's default runtime can do.
func (e *Engine) Capabilities() sandbox.Capabilities { return e.CapabilitiesOf("") }

// CapabilitiesOf tells what containers of a runtime can do; "" is the default
// one. docs/engines.md gives the reason for each that is missing.
func (e *Engine) CapabilitiesOf(runtime string) sandbox.Capabilities {
	c := sandbox.Capabilities{Counters: true, KillTree: true, Limits: true, OnePipe: true, Dir: true, Seccomp: true, Isolated: true, Protect: true}
	if !e.info.MemoryLimit || !e.info.PidsLimit || !e.info.CPUCfsQuota {
		// Without root an engine has the control groups that it was given.
		c.Counters, c.Limits = false, false
	}
	if e.gvisor(runtime) {
		// It shows no control groups inside, gives orphans to PID 1 alone, and
		// tells nobody where another process is.
		c.Counters, c.Limits, c.KillTree, c.Dir = false, false, false, false
		// What a command could turn to is gVisor's own kernel.
		c.Seccomp = false
	}
	return c
}

// checkRuntime refuses a runtime that the engine cannot use.
func (e *Engine) checkRuntime(name string) error {
	if name == "" {
		return nil
	}
	if e.Podman() {
		// Its service has one runtime for all, and drops the wish for another.
		if own := path.Base(e.info.DefaultRuntime); name != own && name != e.info.DefaultRuntime {
			return fmt.Errorf("the service of Podman uses the runtime %s for every container: choose another in containers.conf, or with podman --runtime %s system service", own, name)
		}
		return nil
	}
	if _, ok := e.info.Runtimes[name]; !ok {
		return fmt.Errorf("the engine has no runtime %q: it has %s", name, strings.Join(sortedKeys(e.info.Runtimes), ", "))
	}
	return nil
}
