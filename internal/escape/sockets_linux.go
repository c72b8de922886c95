package escape

import "golang.org/x/sys/unix"

func socketAttempts() []attempt {
	var list []attempt
	for _, s := range []struct {
		name               string
		family, kind, prot int
	}{
		{"packets of an interface", unix.AF_PACKET, unix.SOCK_RAW, 0x0300},
		{"raw ip", unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_RAW},
		{"the kernel's ciphers", unix.AF_ALG, unix.SOCK_SEQPACKET, 0},
		{"raw ip of version 6", unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_RAW},
	} {
		list = append(list, attempt{area: Sockets, name: s.name, try: func() error {
			fd, err := unix.Socket(s.family, s.kind|unix.SOCK_CLOEXEC, s.prot)
			if err != nil {
				return err
			}
			unix.Close(fd)
			return nil
		}})
	}
	return append(list, attempt{area: Sockets, name: "the host of a virtual machine", try: reachHypervisor})
}

// reachHypervisor talks past all networks: sockets of this family belong to no
// network namespace. Only a host that answers counts, since the port is one
// that nobody listens on.
func reachHypervisor() error {
	fd, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, &unix.SockaddrVM{CID: unix.VMADDR_CID_HOST, Port: 9})
}
