package escape

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

func deviceAttempts() []attempt {
	list := []attempt{
		{area: Devices, name: "make a node of the memory", try: func() error { return makeNode(unix.S_IFCHR, unix.Mkdev(1, 1)) }},
		{area: Devices, name: "make a node of a disk", try: func() error { return makeNode(unix.S_IFBLK, unix.Mkdev(8, 0)) }},
		{area: Devices, name: "nodes in /dev", hostKernel: true, try: strangeNodes},
	}
	for _, device := range []string{"mem", "port", "kmsg", "fuse", "kvm", "net/tun", "loop-control", "mapper/control", "uinput", "vsock", "vhost-net"} {
		own := device == "fuse" || device == "net/tun" // a kernel of the sandbox's own has some like these
		list = append(list, attempt{area: Devices, name: "open /dev/" + device, hostKernel: own, try: func() error { return open("/dev/"+device, unix.O_RDWR) }})
	}
	return list
}

func makeNode(kind uint32, device uint64) error {
	path := filepath.Join("/tmp", fmt.Sprintf("belljar-node-%d", os.Getpid()))
	defer os.Remove(path)
	if err := unix.Mknod(path, kind|0o600, int(device)); err != nil {
		return err
	}
	// Made, but where nodes are inert it is of no use.
	return open(path, unix.O_RDWR)
}

// strangeNodes looks for device nodes beside those that every container has.
func strangeNodes() error {
	known := map[string]bool{
		"/dev/null": true, "/dev/zero": true, "/dev/full": true, "/dev/random": true, "/dev/urandom": true,
		"/dev/tty": true, "/dev/console": true, "/dev/ptmx": true,
	}
	strange := ""
	_ = filepath.WalkDir("/dev", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeDevice != 0 && !known[path] && !strings.HasPrefix(path, "/dev/pts/") {
			strange = path
		}
		return nil
	})
	if strange != "" {
		return fmt.Errorf("%s is there", strange)
	}
	return fmt.Errorf("%w: only the usual ones", errHeld)
}
