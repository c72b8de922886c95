package sandbox

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// A Mount is a folder of the host that a sandbox sees beside its workspace.
type Mount struct {
	// Source is the absolute host path of the folder, which must exist.
	Source string `json:"source"`
	// Target is the absolute clean path inside. A runtime that cannot put
	// folders elsewhere says in Info where it is seen instead.
	Target string `json:"target"`
	// ReadOnly keeps commands from changing it. What is mounted below the
	// source on the host is not seen then.
	ReadOnly bool `json:"read_only"`
}

// The paths that a sandbox has of its own. A mount over or above one of them
// would take it away.
const (
	HomePoint = "/home/belljar"
	TmpPoint  = "/tmp"
	ShmPoint  = "/dev/shm"
	ToolPoint = "/.belljar"
)

// OwnPoint is above the targets of mounts whose source the caller has made for
// the sandbox alone. What containers need to use such a folder is given to it
// without being asked for: a label where the engine's host has SELinux.
const OwnPoint = "/belljar"

// ProgramsPoint is below OwnPoint, but its source is a folder of the user's: it is
// not changed without being asked for.
const ProgramsPoint = OwnPoint + "/tools"

// CheckMounts says what is wrong with mounts: a path that is not absolute and
// clean, a target that takes away what a sandbox needs, or that lies in the
// kernel's folders or in the workspace, and targets that lie in each other.
func CheckMounts(mounts []Mount) error {
	for i, m := range mounts {
		if err := m.check(); err != nil {
			return err
		}
		for _, other := range mounts[:i] {
			if under(m.Target, other.Target) || under(other.Target, m.Target) {
				return fmt.Errorf("the mounts at %s and %s lie in each other: give them targets apart", other.Target, m.Target)
			}
		}
	}
	return nil
}

// CheckMounts says what is wrong with the mounts of a spec WithProfile: what the
// function of this name says, and folders that would undo what a sandbox
// promises of the workspace.
func (s Spec) CheckMounts() error {
	if err := CheckMounts(s.Mounts); err != nil {
		return err
	}
	for _, m := range s.Mounts {
		switch {
		case related(m.Source, s.Workspace):
			return fmt.Errorf("the folder to mount at %s is the workspace, in it or around it: what is protected there would not be here", m.Target)
		case !m.ReadOnly && s.User == UserRoot:
			// Only what is made in the workspace is given to its owner.
			return fmt.Errorf("the folder to mount at %s can be written, and commands are root: files of root would stay in it; mount it read-only", m.Target)
		}
	}
	return nil
}

func (m Mount) check() error {
	switch {
	case !filepath.IsAbs(m.Source):
		return fmt.Errorf("the folder %q to mount is not an absolute path", m.Source)
	case !utf8.ValidString(m.Source) || strings.ContainsRune(m.Source, 0):
		return fmt.Errorf("the path of the folder %q to mount is not UTF-8: rename the folder", m.Source)
	case !path.IsAbs(m.Target) || path.Clean(m.Target) != m.Target:
		return fmt.Errorf("the target %q of a mount is not a clean absolute path: leave out dot parts and double slashes", m.Target)
	case !utf8.ValidString(m.Target) || strings.ContainsFunc(m.Target, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("the target %q of a mount holds control characters or is not UTF-8", m.Target)
	}
	for _, own := range []string{MountPoint, ToolPoint, HomePoint, TmpPoint, ShmPoint, "/etc/passwd", "/etc/group", "/proc", "/sys"} {
		if under(own, m.Target) {
			return fmt.Errorf("a mount at %s would hide %s, which the sandbox needs: choose another target, such as /mnt/NAME", m.Target, own)
		}
	}
	for _, own := range systemFolders() {
		if under(own, m.Target) || strings.Contains(path.Base(m.Target), "-linux-") && path.Dir(m.Target) == own {
			return fmt.Errorf("a mount at %s would hide programs or libraries of the image, without which nothing runs: choose another target, such as /mnt/NAME", m.Target)
		}
	}
	for _, closed := range []string{"/proc", "/sys", "/dev", ToolPoint} {
		if under(m.Target, closed) {
			return fmt.Errorf("nothing can be mounted in %s: choose another target, such as /mnt/NAME", closed)
		}
	}
	if under(m.Target, MountPoint) {
		// The engine would make the target in the user's own folder, as root.
		return fmt.Errorf("the target %s lies in the workspace: choose one outside, such as /mnt/NAME", m.Target)
	}
	return nil
}

// systemFolders hold what every command of a usual image runs on. Below them a
// mount takes the place of one folder, which is the user's to know; of the
// libraries of a processor (x86_64-linux-gnu) it takes all.
func systemFolders() []string {
	return []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32"}
}

// Own tells whether the folder was made for the sandbox, see OwnPoint.
func (m Mount) Own() bool { return m.Reserved() && !under(m.Target, ProgramsPoint) }

// Reserved tells whether the target is none for a user to choose.
func (m Mount) Reserved() bool { return under(m.Target, OwnPoint) }

// under tells whether a path is dir or below it. Both are absolute and clean.
func under(name, dir string) bool {
	return name == dir || dir == "/" || strings.HasPrefix(name, dir+"/")
}

// related tells whether one folder is the other or lies in it, as far as names
// without links tell.
func related(a, b string) bool {
	inside := func(path, dir string) bool {
		rel, err := filepath.Rel(dir, path)
		return err == nil && filepath.IsLocal(rel)
	}
	if real, err := filepath.EvalSymlinks(a); err == nil {
		a = real
	}
	if real, err := filepath.EvalSymlinks(b); err == nil {
		b = real
	}
	return inside(a, b) || inside(b, a)
}
