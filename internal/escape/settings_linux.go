package escape

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// settingsLooked bounds the files that are tried below one folder.
const settingsLooked = 20_000

func settingAttempts() []attempt {
	list := []attempt{
		{area: Settings, name: "write below /proc/sys", hostKernel: true, try: func() error { return writable("/proc/sys") }},
		{area: Settings, name: "write below /sys", try: func() error { return writable("/sys") }},
		{area: Settings, name: "make a control group", try: makeGroup},
		{area: Settings, name: "set a release agent", try: releaseAgent},
	}
	for _, file := range []string{
		"/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/fs/binfmt_misc/register",
		"/sys/kernel/uevent_helper", "/sys/power/state", "/proc/irq/default_smp_affinity", "/proc/bus/pci/devices", "/proc/mtrr",
	} {
		list = append(list, attempt{area: Settings, name: "write " + file, try: func() error { return open(file, unix.O_WRONLY) }})
	}
	return list
}

// writable opens every file below a folder for writing and writes nothing. It
// returns nil when one could be opened.
func writable(top string) error {
	tried := 0
	found := ""
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil // what cannot be read cannot be gone through either
		}
		if tried++; tried > settingsLooked {
			return fs.SkipAll
		}
		if open(path, unix.O_WRONLY) == nil {
			found = path
			return fs.SkipAll
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case found != "":
		return fmt.Errorf("%s can be opened for writing", found)
	}
	return fmt.Errorf("%w: none of %d files can be opened for writing", errHeld, tried)
}

// makeGroup makes a control group of its own in any of the hierarchies, which
// is the first step to a release agent or to looser limits.
func makeGroup() error {
	tops, _ := filepath.Glob("/sys/fs/cgroup/*")
	last := error(unix.ENOENT)
	for _, top := range append(tops, "/sys/fs/cgroup") {
		dir := filepath.Join(top, "belljar-probe")
		if err := unix.Mkdir(dir, 0o700); err != nil {
			last = err
			continue
		}
		// A folder beside the hierarchies is no group.
		_, err := os.Stat(filepath.Join(dir, "cgroup.procs"))
		_ = os.Remove(dir)
		if err == nil {
			return nil
		}
	}
	return last
}

// releaseAgent opens what names the program that the host's kernel runs as root
// when a control group of version 1 gets empty, where a hierarchy's top is seen.
func releaseAgent() error {
	files, _ := filepath.Glob("/sys/fs/cgroup/*/release_agent")
	last := error(unix.ENOENT)
	for _, file := range append(files, "/sys/fs/cgroup/release_agent") {
		if err := open(file, unix.O_WRONLY); err != unix.ENOENT {
			last = err
		}
		if last == nil {
			return nil
		}
	}
	return last
}
