package escape

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

func mountAttempts() []attempt {
	try := func(name string, f func() error) attempt { return attempt{area: Mounts, name: name, try: f} }
	return []attempt{
		try("mount a file system", func() error { return unix.Mount("none", "/tmp", "tmpfs", 0, "") }),
		try("mount proc", func() error { return unix.Mount("none", "/tmp", "proc", 0, "") }),
		try("mount a control group", func() error { return unix.Mount("none", "/tmp", "cgroup", 0, "rdma") }),
		try("bind a folder", func() error { return unix.Mount("/etc", "/tmp", "", unix.MS_BIND, "") }),
		try("remount the root for writing", func() error { return unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, "") }),
		try("share mounts with the host", func() error { return unix.Mount("", "/", "", unix.MS_SHARED|unix.MS_REC, "") }),
		try("uncover what is masked", func() error { return unix.Unmount("/proc/sys", unix.MNT_DETACH) }),
		try("change the root", func() error { return unix.PivotRoot("/tmp", "/tmp") }),
		try("chroot", func() error { return unix.Chroot("/") }),
		try("open a file by handle", openByHandle),
		try("make a mount by fsopen", func() error {
			name := [...]byte{'t', 'm', 'p', 'f', 's', 0}
			return call(unix.SYS_FSOPEN, uintptr(unsafe.Pointer(&name)), 0)
		}),
		try("clone a mount", func() error {
			path := [...]byte{'/', 0}
			at := unix.AT_FDCWD
			return call(unix.SYS_OPEN_TREE, uintptr(at), uintptr(unsafe.Pointer(&path)), unix.OPEN_TREE_CLONE)
		}),
	}
}

// openByHandle is the way out of a container by the root's inode number: a
// file is opened by its number in the file system, past all folders.
func openByHandle() error {
	fd, err := unix.OpenByHandleAt(unix.AT_FDCWD, unix.NewFileHandle(1, []byte{2, 0, 0, 0, 0, 0, 0, 0}), unix.O_RDONLY)
	if err != nil {
		return err
	}
	unix.Close(fd)
	return nil
}
