package docker

import "golang.org/x/sys/unix"

// labelOf is the SELinux label of a file, "" where it has none.
func labelOf(path string) string {
	var buf [512]byte // labels are far shorter
	n, err := unix.Getxattr(path, "security.selinux", buf[:])
	if err != nil {
		return ""
	}
	return unix.ByteSliceToString(buf[:n])
}
