package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// securityOptions are the container's. The engine's own seccomp profile is
// replaced by the newest default one of the engine line, which an old engine
// does not have: its own lets a container without any network talk to the
// hypervisor over AF_VSOCK, and use io_uring and AF_ALG, all of them ways past
// or into the kernel. Podman's also grants the keyring and name spaces of users.
// A profile that the operator has set is left in force.
func (e *Engine) securityOptions() ([]string, error) {
	options := []string{"no-new-privileges"}
	ownDefault := slices.ContainsFunc(e.info.SecurityOptions, func(option string) bool {
		return option == "name=seccomp,profile=default" || option == "name=seccomp,profile=builtin"
	})
	profile := newestProfile()
	if !ownDefault || profile == nil || e.Podman() && !e.Local() {
		return options, nil
	}
	text, err := json.Marshal(profile)
	if err != nil {
		return nil, fmt.Errorf("encoding the seccomp profile: %w", err)
	}
	if !e.Podman() {
		return append(options, "seccomp="+string(text)), nil
	}
	path, err := e.profileFile(text)
	if err != nil {
		return nil, fmt.Errorf("writing the seccomp profile: %w", err)
	}
	return append(options, "seccomp="+path), nil
}

// profileFile puts a profile where Podman's service can read it, which takes a
// path in its place. Its name has the hash of what it holds.
func (e *Engine) profileFile(text []byte) (string, error) {
	sum := sha256.Sum256(text)
	return e.publicFile("seccomp", hex.EncodeToString(sum[:12])+".json", text)
}
