package docker

import (
	"fmt"
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
		OpenStdin:  true, StdinOnce: true, AttachStdin: true, AttachStdout: true,
		// PID 1 ignores what can be ignored, so a stop is a kill.
		StopSignal: "SIGKILL", StopTimeout: &stop,
		Labels: p.labels,
		// An image's health check would run its commands in the sandbox.
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
	}
	l := p.spec.Limits
	pids := l.Pids
	host := &container.HostConfig{
		AutoRemove:     true,
		NetworkMode:    p.networkMode(),
		UsernsMode:     p.userns(),
		ReadonlyRootfs: p.spec.RootFS == sandbox.RootReadOnly,
		CapDrop:        strslice.StrSlice{"ALL"},
		CapAdd:         p.capabilities(),
		SecurityOpt:    p.security,
		Runtime:        p.spec.Runtime,
		StorageOpt:     p.quota(),
		GroupAdd:       p.groups(),
		LogConfig:      container.LogConfig{Type: "none"},
		Tmpfs:          p.inMemory(),
		Mounts:         p.mounts(),
		Resources: container.Resources{
			Memory: l.Memory, MemorySwap: l.Memory,
			NanoCPUs:  int64(l.CPUs * 1e9),
			PidsLimit: &pids,
			Ulimits:   ulimits(l),
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

// ulimits are the limits of each process.
func ulimits(l sandbox.Limits) []*container.Ulimit {
	list := []*container.Ulimit{
		{Name: "nofile", Soft: l.NoFile, Hard: l.NoFile},
		{Name: "core", Soft: 0, Hard: 0},
	}
	if l.Disk > 0 {
		list = append(list, &container.Ulimit{Name: "fsize", Soft: l.Disk, Hard: l.Disk})
	}
	return list
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

// giving says whom files in the workspace are given to, nil where they belong
// to the owner from the start.
func (p *plan) giving() *supervisor.Giving {
	if !p.root() {
		return nil
	}
	return &supervisor.Giving{Root: []byte(sandbox.MountPoint), Owner: p.owner}
}

// inMemory are the file systems in memory. A size of 0 is a folder of the
// image itself.
func (p *plan) inMemory() map[string]string {
	l := p.spec.Limits
	// The engine's own /dev/shm is not executable.
	list := map[string]string{sandbox.ShmPoint: fmt.Sprintf("rw,exec,nosuid,nodev,mode=1777,size=%d", l.Shm)}
	if l.Tmp > 0 {
		list[sandbox.TmpPoint] = fmt.Sprintf("rw,exec,nosuid,nodev,mode=1777,size=%d", l.Tmp)
	}
	if l.Home > 0 {
		list[homeInside] = fmt.Sprintf("rw,exec,nosuid,nodev,mode=0700,uid=%d,gid=%d,size=%d", p.uid, p.gid, l.Home)
	}
	return list
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
