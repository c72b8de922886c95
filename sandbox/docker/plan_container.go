package docker

import (
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/strslice"

	"github.com/belljar/belljar/internal/supervisor"
	"github.com/belljar/belljar/sandbox"
)

// The user that PID 1 has: nobody, unless the commands' user is that.
const (
	initID      = 65534
	otherInitID = 65533
)

// container is what the engine is asked to make.
func (p *plan) container() (*container.Config, *container.HostConfig) {
	stop := 1
	config := &container.Config{
		Image: p.spec.Image,
		// The image's own entrypoint is replaced, not emptied, so that it
		// cannot swallow the command.
		Entrypoint: strslice.StrSlice(supervisor.InitArgs(helperInside, int(leaseSilence.Seconds()), p.giving())),
		Cmd:        strslice.StrSlice{},
		Env:        supervisor.Environ(),
		User:       p.initUser(),
		WorkingDir: "/",
		// The mode none is asked for below all the same.
		NetworkDisabled: p.networkDisabled(),
		OpenStdin:       true, StdinOnce: true, AttachStdin: true, AttachStdout: true, AttachStderr: true,
		// PID 1 ignores what can be ignored, so a stop is a kill.
		StopSignal: "SIGKILL", StopTimeout: &stop,
		Labels: p.labels,
		// An image's health check would run its commands in the sandbox.
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
	}
	l := p.spec.Limits
	pids := p.cgroupPids()
	mounts, binds := p.relabeled(p.mounts())
	host := &container.HostConfig{
		AutoRemove:     true,
		NetworkMode:    p.networkMode(),
		UsernsMode:     p.userns(),
		ReadonlyRootfs: p.spec.RootFS == sandbox.RootReadOnly,
		ReadonlyPaths:  p.readOnlyPaths(),
		CapDrop:        strslice.StrSlice{"ALL"},
		CapAdd:         p.capabilities(),
		SecurityOpt:    p.security,
		Runtime:        p.spec.Runtime,
		StorageOpt:     p.quota(),
		GroupAdd:       p.groups(),
		LogConfig:      container.LogConfig{Type: "none"},
		Tmpfs:          p.tmpfs(),
		Mounts:         mounts,
		Binds:          binds,
		Resources: container.Resources{
			Memory: l.Memory, MemorySwap: l.Memory,
			NanoCPUs:   int64(l.CPUs * 1e9),
			CpusetCpus: l.CPUSet,
			PidsLimit:  &pids,
			Ulimits:    p.ulimits(),
		},
	}
	return config, host
}

// networkMode is the engine's name for the network. What is allowed goes out by
// another container, so the sandbox has no network either way.
func (p *plan) networkMode() container.NetworkMode {
	if p.spec.Network == sandbox.NetworkAllow {
		return container.NetworkMode(sandbox.NetworkNone)
	}
	return container.NetworkMode(p.spec.Network)
}

// initUser is the user of PID 1. A command must not be able to signal or trace
// it, so it is another one than the commands'. Where those are root so must it
// be, since an engine gives an exec no capabilities in a container of somebody
// else; it then protects itself, and gives what they made to the owner.
func (p *plan) initUser() string {
	id := initID
	switch {
	case p.root():
		return p.execUser()
	case p.uid == initID:
		id = otherInitID
	}
	return strconv.Itoa(id) + ":" + strconv.Itoa(id)
}

// capabilities are what commands have of them.
func (p *plan) capabilities() strslice.StrSlice {
	if !p.root() {
		return nil
	}
	return strslice.StrSlice(sandbox.RootCapabilities())
}

// readOnlyPaths are those that nobody may write to, nil for the engine's own
// list. To that come two file systems in memory which root could fill beyond
// what is kept free of the memory: /dev, which needs no change once its nodes
// are there, and where control groups are mounted, since with those of version 1
// current engines leave the folder above them to root. What is mounted below
// /dev stays as it is.
func (p *plan) readOnlyPaths() []string {
	if p.uid != 0 || p.engine.Podman() || p.engine.gvisor(p.spec.Runtime) {
		return nil
	}
	// The engine's own, see oci.DefaultSpec of moby, which these replace.
	own := []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}
	return append(own, "/sys/fs/cgroup", "/dev")
}

// giving says whom files in the workspace are given to, nil where they belong
// to the owner from the start.
func (p *plan) giving() *supervisor.Giving {
	if !p.root() {
		return nil
	}
	return &supervisor.Giving{Root: []byte(sandbox.MountPoint), Owner: p.owner}
}

// userns keeps an engine that maps the users of its containers to others from
// doing so, since files must belong to the owner.
func (p *plan) userns() container.UsernsMode {
	for _, option := range p.engine.info.SecurityOptions {
		if strings.HasPrefix(option, "name=userns") {
			return "host"
		}
	}
	return ""
}

// groups are the owner's further groups, which a rootless engine cannot map
// and root does not need.
func (p *plan) groups() []string {
	if p.engine.Rootless() || p.root() {
		return nil
	}
	var list []string
	for _, gid := range p.spec.Owner.Groups {
		if gid != p.gid {
			list = append(list, strconv.Itoa(gid))
		}
	}
	return list
}
