package docker

import (
	"fmt"

	"github.com/belljar/belljar/sandbox"
)

// localHosts is what an engine puts into /etc/hosts of a container without
// network.
const localHosts = `127.0.0.1	localhost
::1	localhost ip6-localhost ip6-loopback
fe00::0	ip6-localnet
ff00::0	ip6-mcastprefix
ff02::1	ip6-allnodes
ff02::2	ip6-allrouters
`

// networkDisabled tells whether the engine is told to do nothing at all about
// the network. The container has a name space of its own with loopback alone,
// as with the mode none, since that is the work of runc. For the mode none
// Docker Engine 20.10 starts its whole program once more, inside, before the
// container may start, which takes longer than all the rest of the start.
//
// The engine then writes no /etc/hosts either. Where root may change the system
// that file is to be changed as well, so there it is left to the engine.
func (p *plan) networkDisabled() bool {
	name := p.runtime()
	return p.spec.Network == sandbox.NetworkNone && p.spec.RootFS == sandbox.RootReadOnly && !p.engine.Podman() &&
		(name == "runc" || name == "io.containerd.runc.v2")
}

// hostsFile returns the host path of a file with localHosts.
func (e *Engine) hostsFile() (string, error) {
	path, err := e.publicFile("etc", "hosts", []byte(localHosts))
	if err != nil {
		return "", fmt.Errorf("writing the container's /etc/hosts: %w", err)
	}
	return path, nil
}
