package docker

import (
	"context"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/system"

	"github.com/belljar/belljar/internal/supervisor"
	"github.com/belljar/belljar/sandbox"
)

// places are the in-memory file systems, in the order of their sizes in
// supervisor.Limits.
func places() [][]byte { return [][]byte{[]byte("/tmp"), []byte(homeInside), []byte("/dev/shm")} }

// checkLimits compares the limits that were read inside with what was asked
// for. What cannot be read there is read from the host's control group, else
// from what the engine says of the container.
func (b *box) checkLimits(ctx context.Context, p *plan, inside *supervisor.Limits) error {
	readings := askedReadings(p.spec.Limits)
	if b.info.Capabilities.Seccomp {
		readings = append(readings, askedGuards()...)
	}
	if inside != nil {
		fill(readings, *inside, sandbox.FromInside)
	}
	if unread(readings) {
		found, err := b.engine.api.ContainerInspect(ctx, b.id)
		if err != nil {
			return b.explain("asking for the container's limits", err)
		}
		if found.State != nil && found.State.Pid > 0 && b.engine.Local() {
			fill(readings, supervisor.CgroupLimits(found.State.Pid, b.id), sandbox.FromHost)
		}
		if found.HostConfig != nil {
			fill(readings, setByEngine(found.HostConfig, b.engine.info), sandbox.FromEngine)
		}
	}
	b.info.Readings = readings
	for _, missing := range sandbox.Missing(readings) {
		if missing.IsGuard() {
			b.info.Capabilities.Seccomp = false
		}
	}
	loosened, err := sandbox.CheckReadings(readings, p.spec.AllowMissingLimits)
	b.info.Loosened = append(b.info.Loosened, loosened...)
	return err
}

// askedReadings lists what was asked for, without what was found.
func askedReadings(l sandbox.Limits) []sandbox.Reading {
	list := []sandbox.Reading{
		{Limit: "memory", Asked: float64(l.Memory)},
		{Limit: "swap", Asked: 0},
		{Limit: "cpus", Asked: l.CPUs},
		{Limit: "nofile", Asked: float64(l.NoFile)},
	}
	for _, optional := range []sandbox.Reading{
		{Limit: "tmp", Asked: float64(l.Tmp)}, // 0 is a folder of the image, here and below
		{Limit: "home", Asked: float64(l.Home)},
		{Limit: "shm", Asked: float64(l.Shm)},
		{Limit: "pids", Asked: float64(l.Pids)}, // 0 is none
		{Limit: "fsize", Asked: float64(l.Disk)},
	} {
		if optional.Asked > 0 {
			list = append(list, optional)
		}
	}
	if n, err := sandbox.CountCPUs(l.CPUSet); err == nil {
		list = append(list, sandbox.Reading{Limit: "cpuset", Asked: float64(n)})
	}
	return list
}

// askedGuards are what the kernel must say of each process where the filter of
// system calls is the engine's: that it is there, and that no program gives
// rights. An engine may have been started without a filter.
func askedGuards() []sandbox.Reading {
	return []sandbox.Reading{{Limit: sandbox.NoNewPrivs, Asked: 1}, {Limit: sandbox.Seccomp, Asked: 2}}
}

// unread tells whether something could not be read yet.
func unread(readings []sandbox.Reading) bool {
	for _, r := range readings {
		if r.Source == sandbox.FromNowhere {
			return true
		}
	}
	return false
}

// fill notes what a source tells of readings that none before it could tell.
func fill(readings []sandbox.Reading, found supervisor.Limits, source sandbox.Source) {
	values := map[string]int64{
		"memory": found.Memory, "swap": found.Swap, "cpus": found.MilliCPUs, "pids": found.Pids,
		"nofile": found.NoFile, "cpuset": found.Processors, "fsize": found.FileSize,
		sandbox.NoNewPrivs: found.NoNewPrivs, sandbox.Seccomp: found.Seccomp,
	}
	for i, name := range []string{"tmp", "home", "shm"} {
		values[name] = supervisor.Unknown
		if i < len(found.Sizes) {
			values[name] = found.Sizes[i]
		}
	}
	for i, r := range readings {
		value := values[r.Limit]
		if r.Source != sandbox.FromNowhere || value == supervisor.Unknown {
			continue
		}
		readings[i].Source, readings[i].Found = source, float64(value)
		switch {
		case value == supervisor.Unlimited:
			readings[i].Found = sandbox.NoLimit
		case r.Limit == "cpus":
			readings[i].Found = float64(value) / 1000
		}
	}
}

// setByEngine is what the engine says that it has set. It drops what the
// machine's kernel lacks, with a warning at the creation of the container; what
// it has no control group for, as without root, it repeats and does not set. What
// is read inside only is not told.
func setByEngine(host *container.HostConfig, can system.Info) supervisor.Limits {
	limits := supervisor.Limits{
		Memory: orUnlimited(host.Memory), Swap: supervisor.Unlimited, MilliCPUs: orUnlimited(host.NanoCPUs / 1e6),
		Pids: supervisor.Unlimited, NoFile: supervisor.Unknown, Processors: supervisor.Unknown,
		FileSize: supervisor.Unknown, NoNewPrivs: supervisor.Unknown, Seccomp: supervisor.Unknown,
	}
	if host.MemorySwap > 0 && host.Memory > 0 {
		limits.Swap = host.MemorySwap - host.Memory
	}
	if host.PidsLimit != nil {
		limits.Pids = orUnlimited(*host.PidsLimit)
	}
	if n, err := sandbox.CountCPUs(host.CpusetCpus); err == nil {
		limits.Processors = int64(n)
	}
	for _, one := range []struct {
		limit *int64
		held  bool
	}{
		{&limits.Memory, can.MemoryLimit}, {&limits.Swap, can.MemoryLimit && can.SwapLimit},
		{&limits.MilliCPUs, can.CPUCfsQuota}, {&limits.Pids, can.PidsLimit}, {&limits.Processors, can.CPUSet},
	} {
		if !one.held {
			*one.limit = supervisor.Unlimited
		}
	}
	return limits
}

// orUnlimited is a limit as an engine tells it: none is 0 or -1.
func orUnlimited(value int64) int64 {
	if value <= 0 {
		return supervisor.Unlimited
	}
	return value
}
