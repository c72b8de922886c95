package escape

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

func fileAttempts() []attempt {
	try := func(name string, f func() error) attempt { return attempt{area: Files, name: name, try: f} }
	list := []attempt{
		try("change belljar's own program", changeSelf),
		try("replace belljar's own program", replaceSelf),
		{area: Files, name: "link a file of the system", root: true, try: linkIn},
		try("read the kernel's memory", func() error { return readable("/proc/kcore") }),
		try("read the kernel's keys", func() error { return readable("/proc/keys") }),
		try("read the timers of all", func() error { return readable("/proc/timer_list") }),
		try("read the firmware", func() error { return listed("/sys/firmware") }),
		try("look at the kernel's inside", func() error { return listed("/sys/kernel/debug", "/sys/kernel/tracing", "/sys/kernel/security") }),
	}
	for _, path := range []string{
		"/run/docker.sock", "/var/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock",
		"/run/crio/crio.sock", "/run/systemd/private", "/run/dbus/system_bus_socket",
	} {
		list = append(list, try("reach "+path, func() error { return unix.Access(path, unix.F_OK) }))
	}
	return list
}

// self is the path that this program was started by; its link in /proc would
// be followed past the mount.
func self() string { return os.Args[0] }

// changeSelf tells whether the mount of the program is read-only. To open it
// for writing fails in any case, since it runs. Not every kernel tells the flag,
// but each looks at the mount before it changes a mode.
func changeSelf() error {
	var stat unix.Statfs_t
	if err := unix.Statfs(self(), &stat); err != nil {
		return err
	}
	if stat.Flags&unix.ST_RDONLY == 0 && unix.Chmod(self(), 0o555) != unix.EROFS {
		return fmt.Errorf("%s is mounted for writing", self())
	}
	return fmt.Errorf("%w: its mount is read-only", errHeld)
}

// replaceSelf tells whether the program can be taken away from its place. A
// mount point is busy for whoever else might.
func replaceSelf() error {
	err := unix.Unlink(self())
	if err == unix.EBUSY {
		return fmt.Errorf("%w: it is a mount point", errHeld)
	}
	return err
}

// linkIn gives a file of another mount a name in a folder that can be written.
func linkIn() error {
	name := filepath.Join("/tmp", fmt.Sprintf("belljar-link-%d", os.Getpid()))
	defer os.Remove(name)
	err := unix.Link("/etc/passwd", name)
	if err == unix.EXDEV {
		return fmt.Errorf("%w: another file system", errHeld)
	}
	return err
}

// listed returns nil when one of the folders has anything in it.
func listed(dirs ...string) error {
	last := error(unix.ENOENT)
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		switch {
		case err != nil:
			last = err
		case len(entries) > 0:
			return nil
		default:
			last = fmt.Errorf("%w: %s is empty", errHeld, dir)
		}
	}
	return last
}
