package docker

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/docker/docker/api/types/mount"

	"github.com/belljar/belljar/sandbox"
)

// checkMounts refuses further folders that could not be mounted.
func checkMounts(mounts []sandbox.Mount) error {
	if err := sandbox.CheckMounts(mounts); err != nil {
		return err
	}
	for _, m := range mounts {
		switch info, err := os.Stat(m.Source); {
		case err != nil:
			return fmt.Errorf("looking at the folder to mount at %s: %w", m.Target, err)
		case !info.IsDir():
			return fmt.Errorf("%s, to be mounted at %s, is no folder", m.Source, m.Target)
		}
	}
	return nil
}

// mounts are the host's files and folders that the container sees.
func (p *plan) mounts() []mount.Mount {
	readOnly := func(source, target string) mount.Mount {
		return mount.Mount{Type: mount.TypeBind, Source: source, Target: target, ReadOnly: true}
	}
	list := []mount.Mount{
		// A mount of this kind is refused when its source is missing, where
		// the older kind makes an empty folder that belongs to root.
		{Type: mount.TypeBind, Source: p.spec.Workspace, Target: sandbox.MountPoint},
		readOnly(p.helper, helperInside),
		readOnly(filepath.Join(p.passwd, "passwd"), "/etc/passwd"),
		readOnly(filepath.Join(p.passwd, "group"), "/etc/group"),
	}
	for _, m := range p.spec.Mounts {
		bind := mount.Mount{Type: mount.TypeBind, Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly}
		if m.ReadOnly {
			// Engines make only the top of such a mount read-only: what is
			// mounted below the source could be written.
			bind.BindOptions = &mount.BindOptions{NonRecursive: true}
		}
		list = append(list, bind)
	}
	return list
}
