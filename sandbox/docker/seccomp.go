package docker

import (
	"encoding/json"
	"fmt"
	"slices"
)

// securityOptions are the container's. The engine's own seccomp profile is
// replaced by the newest default one of the engine line, which an old engine
// does not have: its own lets a container without any network talk to the
// hypervisor over AF_VSOCK, and use io_uring and AF_ALG, all of them ways past
// or into the kernel. A profile that the operator has set is left in force.
func (e *Engine) securityOptions() ([]string, error) {
	options := []string{"no-new-privileges"}
	// Podman takes a path there and not a profile.
	ownDefault := slices.ContainsFunc(e.info.SecurityOptions, func(option string) bool {
		return option == "name=seccomp,profile=default" || option == "name=seccomp,profile=builtin"
	})
	profile := newestProfile()
	if !ownDefault || e.version.podman() || profile == nil {
		return options, nil
	}
	text, err := json.Marshal(profile)
	if err != nil {
		return nil, fmt.Errorf("encoding the seccomp profile: %w", err)
	}
	return append(options, "seccomp="+string(text)), nil
}
