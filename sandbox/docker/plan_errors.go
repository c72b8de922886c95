package docker

import (
	"fmt"
	"strings"
)

// createError says what can be done about a container that cannot be made.
func (p *plan) createError(err error) error {
	text := oneLine(err.Error())
	if strings.Contains(text, "bind source path does not exist") {
		return fmt.Errorf("the engine at %s does not see %s: it must run on this machine and see the same files", p.engine.endpoint.Host, missingSource(text, p.spec.Workspace))
	}
	if _, have, ok := strings.Cut(text, "Requested CPUs are not available"); ok {
		return fmt.Errorf("the engine does not have all processors of the cpuset %s%s: choose among those, or leave --cpuset out", p.spec.Limits.CPUSet, availableCPUs(have))
	}
	return fmt.Errorf("creating the container: %s", text)
}

// availableCPUs is what the engine says that it has, as an aside.
func availableCPUs(text string) string {
	if _, list, ok := strings.Cut(text, "available: "); ok {
		return " (it has " + list + ")"
	}
	return ""
}

// missingSource finds the path in the engine's message.
func missingSource(text, fallback string) string {
	if _, path, ok := strings.Cut(text, "bind source path does not exist: "); ok {
		return path
	}
	return fallback
}

// startError says what can be done about a container that does not start.
func startError(err error) error {
	text := oneLine(err.Error())
	switch {
	case strings.Contains(text, "exec format error"):
		return fmt.Errorf("starting the container: the image is for another processor than this belljar (%s)", text)
	default:
		return fmt.Errorf("starting the container: %s", text)
	}
}
