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

// container is the strict profile.
func (p *plan) container() (*container.Config, *container.HostConfig) {
	initUser := initID
	if p.uid == initID {
		initUser = otherInitID
	}
	stop := 1
	config := &container.Config{
		Image: p.spec.Image,
		// The image's own entrypoint is replaced, not emptied, so that it
		// cannot swallow the command.
		Entrypoint: strslice.StrSlice(supervisor.InitArgs(helperInside, int(leaseSilence.Seconds()))),
		Cmd:        strslice.StrSlice{},
		Env:        supervisor.Environ(),
		User:       strconv.Itoa(initUser) + ":" + strconv.Itoa(initUser),
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
		ReadonlyRootfs: true,
		CapDrop:        strslice.StrSlice{"ALL"},
		SecurityOpt:    p.security,
		Runtime:        p.spec.Runtime,
		GroupAdd:       p.groups(),
		LogConfig:      container.LogConfig{Type: "none"},
		Tmpfs: map[string]string{
			sandbox.TmpPoint: fmt.Sprintf("rw,exec,nosuid,nodev,mode=1777,size=%d", l.Tmp),
			// The engine's own is not executable.
			sandbox.ShmPoint: fmt.Sprintf("rw,exec,nosuid,nodev,mode=1777,size=%d", l.Shm),
			homeInside:       fmt.Sprintf("rw,exec,nosuid,nodev,mode=0700,uid=%d,gid=%d,size=%d", p.uid, p.gid, l.Home),
		},
		Mounts: p.mounts(),
		Resources: container.Resources{
			Memory: l.Memory, MemorySwap: l.Memory,
			NanoCPUs:  int64(l.CPUs * 1e9),
			PidsLimit: &pids,
			Ulimits: []*container.Ulimit{
				{Name: "nofile", Soft: l.NoFile, Hard: l.NoFile},
				{Name: "core", Soft: 0, Hard: 0},
			},
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

// groups are the owner's further groups, which a rootless engine cannot map.
func (p *plan) groups() []string {
	if p.engine.Rootless() {
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
