package docker

import (
	"fmt"

	"github.com/belljar/belljar/sandbox"
)

// tmpfs are the in-memory file systems of a container, by where they are. A
// size of 0 is a folder of the image itself.
func (p *plan) tmpfs() map[string]string {
	l := p.spec.Limits
	options, home := "rw,exec,nosuid,nodev", fmt.Sprintf("mode=0700,uid=%d,gid=%d", p.uid, p.gid)
	list := make(map[string]string)
	if p.engine.Podman() {
		// It copies what the image has there, which would take from the size.
		options += ",notmpcopyup"
		// It knows no owner of such a file system, which belongs to root.
		if home = "mode=0700"; p.uid != 0 {
			home = "mode=0777"
		}
	}
	if p.engine.Podman() && p.spec.RootFS == sandbox.RootReadOnly {
		// It makes these of any size in such a container.
		for _, dir := range []string{"/run", "/var/tmp"} {
			list[dir] = "ro,noexec,nosuid,nodev,notmpcopyup,mode=0755,size=4096"
		}
	}
	if l.Tmp > 0 {
		list[sandbox.TmpPoint] = fmt.Sprintf("%s,mode=1777,size=%d", options, l.Tmp)
	}
	// The engine's own is not executable.
	list[sandbox.ShmPoint] = fmt.Sprintf("%s,mode=1777,size=%d", options, l.Shm)
	if l.Home > 0 {
		list[homeInside] = fmt.Sprintf("%s,%s,size=%d", options, home, l.Home)
	}
	return list
}
