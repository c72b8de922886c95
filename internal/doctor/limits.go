package doctor

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/belljar/belljar/sandbox"
)

// cgroupScript writes the limits that are in force, under their file names.
// Version 2 has one folder, version 1 one for each controller.
const cgroupScript = `cd /sys/fs/cgroup || exit 0
for f in memory.max memory.swap.max cpu.max pids.max \
	memory/memory.limit_in_bytes memory/memory.memsw.limit_in_bytes \
	cpu/cpu.cfs_quota_us cpu/cpu.cfs_period_us \
	cpu,cpuacct/cpu.cfs_quota_us cpu,cpuacct/cpu.cfs_period_us pids/pids.max; do
	if [ -r "$f" ]; then read -r value < "$f"; echo "${f#*/} $value"; fi
done`

// cgroup reads the limits back from inside.
func (e *examination) cgroup(ctx context.Context) (map[string]string, error) {
	facts, err := e.facts(ctx, cgroupScript)
	if err != nil {
		return nil, err
	}
	if len(facts) == 0 {
		return nil, fmt.Errorf("%w: no cgroup files can be read inside", errSkip)
	}
	return facts, nil
}

// first is the first of the named facts that is there.
func first(facts map[string]string, names ...string) (string, bool) {
	for _, name := range names {
		if value, ok := facts[name]; ok {
			return value, true
		}
	}
	return "", false
}

// checkMemory proves the memory limit, and that there is no swap beside it.
func (e *examination) checkMemory(ctx context.Context) (string, error) {
	facts, err := e.cgroup(ctx)
	if err != nil {
		return "", err
	}
	want := e.sandbox.Info().Limits.Memory
	text, ok := first(facts, "memory.max", "memory.limit_in_bytes")
	if !ok {
		return "", fmt.Errorf("no memory limit can be read inside; the engine's host has no memory controller")
	}
	// The kernel rounds to pages, so less than one page may be missing.
	if got, err := strconv.ParseInt(text, 10, 64); err != nil || got > want || got < want-65536 {
		return "", fmt.Errorf("the memory limit in force is %s, not %d bytes; the engine ignores --memory here", text, want)
	}
	detail := fmt.Sprintf("%d MiB", want/sandbox.MiB)
	if swap, ok := facts["memory.swap.max"]; ok && swap != "0" {
		return "", fmt.Errorf("%s bytes of swap may be used beside the memory limit", swap)
	}
	if both, ok := facts["memory.memsw.limit_in_bytes"]; ok && both != text {
		return "", fmt.Errorf("memory and swap together are limited to %s bytes, not to %s", both, text)
	}
	_, v1 := facts["memory.limit_in_bytes"]
	_, v2 := facts["memory.swap.max"]
	if _, memsw := facts["memory.memsw.limit_in_bytes"]; v2 || v1 && memsw {
		return detail + ", no swap", nil
	}
	return detail + "; the host does not account for swap", nil
}

// checkCPUs proves the limit on processor time.
func (e *examination) checkCPUs(ctx context.Context) (string, error) {
	facts, err := e.cgroup(ctx)
	if err != nil {
		return "", err
	}
	want := e.sandbox.Info().Limits.CPUs
	quota, period, ok := strings.Cut(facts["cpu.max"], " ")
	if !ok {
		quota, period = facts["cpu.cfs_quota_us"], facts["cpu.cfs_period_us"]
	}
	q, errQuota := strconv.ParseFloat(quota, 64)
	p, errPeriod := strconv.ParseFloat(period, 64)
	if errQuota != nil || errPeriod != nil || p <= 0 || q <= 0 || math.Abs(q/p-want) > 0.01 {
		return "", fmt.Errorf("the quota in force is %q of %q microseconds, not %v cpus; the engine ignores --cpus here", quota, period, want)
	}
	return strconv.FormatFloat(q/p, 'f', -1, 64), nil
}

// checkPids proves the limit on processes.
func (e *examination) checkPids(ctx context.Context) (string, error) {
	facts, err := e.cgroup(ctx)
	if err != nil {
		return "", err
	}
	want := strconv.FormatInt(e.sandbox.Info().Limits.Pids, 10)
	if got := facts["pids.max"]; got != want {
		return "", fmt.Errorf("the process limit in force is %q, not %s; the engine ignores --pids here", got, want)
	}
	return "at most " + want, nil
}

// checkNoFile proves the limit on open files, the hard one included.
func (e *examination) checkNoFile(ctx context.Context) (string, error) {
	facts, err := e.facts(ctx, `echo "soft $(ulimit -Sn)"; echo "hard $(ulimit -Hn)"`)
	if err != nil {
		return "", err
	}
	want := strconv.FormatInt(e.sandbox.Info().Limits.NoFile, 10)
	if facts["soft"] != want || facts["hard"] != want {
		return "", fmt.Errorf("the limit on open files is %q, at most %q, not %s", facts["soft"], facts["hard"], want)
	}
	return want + " a process", nil
}

// tmpfsScript writes the type, options and size of each in-memory file system,
// and whether a program can be run from it.
const tmpfsScript = `for d in /tmp "$HOME" /dev/shm; do
	name=home; case "$d" in /tmp) name=tmp;; /dev/shm) name=shm;; esac
	echo "$name.size $(df -Pk "$d" | awk 'NR == 2 { print $2 }')"
	echo "$name.type $(awk -v d="$d" '$2 == d { t = $3 } END { print t }' /proc/mounts)"
	printf '#!/bin/sh\necho yes\n' > "$d/belljar-probe" && chmod +x "$d/belljar-probe"
	echo "$name.exec $("$d/belljar-probe" 2>&1)"
	rm -f "$d/belljar-probe"
done`

// checkTmpfs proves that what is written beside the workspace is bounded, and
// that programs can be run from it.
func (e *examination) checkTmpfs(ctx context.Context) (string, error) {
	facts, err := e.facts(ctx, tmpfsScript)
	if err != nil {
		return "", err
	}
	limits := e.sandbox.Info().Limits
	for _, fs := range []struct {
		name string
		size int64
	}{{"tmp", limits.Tmp}, {"home", limits.Home}, {"shm", limits.Shm}} {
		if kind := facts[fs.name+".type"]; kind != "tmpfs" {
			return "", fmt.Errorf("%s is a %q, not a bounded in-memory file system", fs.name, kind)
		}
		if got, want := facts[fs.name+".size"], strconv.FormatInt(fs.size/1024, 10); got != want {
			return "", fmt.Errorf("%s holds %q KiB, not %s", fs.name, got, want)
		}
		if facts[fs.name+".exec"] != "yes" {
			return "", fmt.Errorf("a program cannot be run from %s: %s", fs.name, facts[fs.name+".exec"])
		}
	}
	return fmt.Sprintf("/tmp %d, home %d, /dev/shm %d MiB",
		limits.Tmp/sandbox.MiB, limits.Home/sandbox.MiB, limits.Shm/sandbox.MiB), nil
}
