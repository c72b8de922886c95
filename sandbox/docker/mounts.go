package docker

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/docker/docker/api/types/mount"

	"github.com/belljar/belljar/sandbox"
)

// checkMounts refuses further folders that could not be mounted, or that a
// sandbox may not have.
func checkMounts(spec sandbox.Spec) error {
	if err := spec.CheckMounts(); err != nil {
		return err
	}
	for _, m := range spec.Mounts {
		switch info, err := os.Stat(m.Source); {
		case err != nil:
			return fmt.Errorf("looking at the folder to mount at %s: %w", m.Target, err)
		case !info.IsDir():
			return fmt.Errorf("%s, to be mounted at %s, is no folder", m.Source, m.Target)
		}
	}
	return nil
}

// mounts are the folders and files of the host that the container sees. A
// mount of this kind is refused when its source is missing, where the older
// kind makes an empty folder that belongs to root.
func (p *plan) mounts() []mount.Mount {
	own := []mount.Mount{
		bind(p.spec.Workspace, sandbox.MountPoint, false),
		bind(p.helper, helperInside, true),
	}
	if p.passwd != "" {
		own = append(own, bind(filepath.Join(p.passwd, "passwd"), "/etc/passwd", true),
			bind(filepath.Join(p.passwd, "group"), "/etc/group", true))
	}
	if p.hosts != "" {
		own = append(own, bind(p.hosts, "/etc/hosts", true))
	}
	return slices.Concat(own, p.protections(), p.further())
}

// protections mount paths of the workspace onto themselves. What is a mount
// point cannot be renamed or removed inside, and without capabilities a
// read-only mount stays one. Engines make deeper mounts after those they lie
// in, whatever their order here.
func (p *plan) protections() []mount.Mount {
	var list []mount.Mount
	add := func(names []string, readOnly bool) {
		for _, name := range names {
			list = append(list, bind(filepath.Join(p.spec.Workspace, filepath.FromSlash(name)), path.Join(sandbox.MountPoint, name), readOnly))
		}
	}
	add(p.spec.Protect.Fixed, false)
	add(p.spec.Protect.ReadOnly, true)
	return list
}

// further are the folders beside the workspace.
func (p *plan) further() []mount.Mount {
	var list []mount.Mount
	for _, m := range p.spec.Mounts {
		further := bind(m.Source, m.Target, m.ReadOnly)
		if m.ReadOnly {
			// Engines make only the top of such a mount read-only: what is
			// mounted below the source could be written.
			further.BindOptions = &mount.BindOptions{NonRecursive: true}
		}
		list = append(list, further)
	}
	return list
}

// bind makes a mount of a path of the host.
func bind(source, target string, readOnly bool) mount.Mount {
	return mount.Mount{Type: mount.TypeBind, Source: source, Target: target, ReadOnly: readOnly}
}
