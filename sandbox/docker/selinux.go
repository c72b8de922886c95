package docker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/mount"

	"github.com/belljar/belljar/sandbox"
)

// labelsFiles tells whether the engine confines containers by SELinux, so that
// they reach only files whose labels say so.
func (e *Engine) labelsFiles() bool {
	return slices.ContainsFunc(e.info.SecurityOptions, func(option string) bool {
		name, _, _ := strings.Cut(option, ",")
		return name == "name=selinux"
	})
}

// checkLabels refuses folders that SELinux would keep containers out of, with
// what to do about each. A container would meet "permission denied" in its own
// workspace otherwise. A folder without a label, such as on a file system that
// has none, is for the host's policy to decide.
func (e *Engine) checkLabels(spec sandbox.Spec) error {
	if !e.labelsFiles() {
		return nil
	}
	if !spec.Relabel {
		if kind := fileType(labelOf(spec.Workspace)); !forContainers(kind) {
			return fmt.Errorf("SELinux keeps containers out of the workspace, whose type is %s: relabel it with --relabel, or with: chcon -R -t %s %s",
				kind, containerType, quoted(spec.Workspace))
		}
	} else if strings.Contains(spec.Workspace, ":") {
		return fmt.Errorf("an engine cannot relabel %q, which has a colon in its path: do it with: chcon -R -t %s %s",
			spec.Workspace, containerType, quoted(spec.Workspace))
	}
	for _, m := range spec.Mounts {
		if m.Own() {
			if strings.Contains(m.Source, ":") {
				return noRelabel(m.Source)
			}
			continue // the engine relabels it
		}
		if kind := fileType(labelOf(m.Source)); !forContainers(kind) {
			return fmt.Errorf("SELinux keeps containers out of %s, to be mounted at %s, whose type is %s: relabel it with: chcon -R -t %s %s",
				m.Source, m.Target, kind, containerType, quoted(m.Source))
		}
	}
	cache, err := e.cacheDir()
	if err == nil && strings.Contains(cache, ":") {
		err = noRelabel(cache)
	}
	return err
}

// noRelabel is for a folder of belljar's own with a path that cannot be named
// to an engine in the form that asks for a label.
func noRelabel(dir string) error {
	return fmt.Errorf("an engine cannot relabel belljar's own files in %q, which has a colon in its path: have belljar keep them elsewhere (XDG_CACHE_HOME, XDG_STATE_HOME)", dir)
}

// containerType is the type of files that every container may use.
const containerType = "container_file_t"

// fileType is the type in a label, which has the form user:role:type:range; ""
// where there is none.
func fileType(label string) string {
	fields := strings.Split(label, ":")
	if len(fields) < 3 {
		return ""
	}
	return fields[2]
}

// forContainers tells whether containers may use files of a type, as far as is
// known: svirt_sandbox_file_t is the old name, and the network's file systems
// are opened to containers by a switch of the policy.
func forContainers(kind string) bool {
	switch kind {
	case "", containerType, "svirt_sandbox_file_t", "container_share_t", "container_ro_file_t", "nfs_t", "cifs_t", "fusefs_t":
		return true
	default:
		return false
	}
}

// quoted writes a path for a shell.
func quoted(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

// relabeled takes those mounts out of a list that the engine is to relabel, and
// gives them in the older form, which alone can ask for it. The label is the one
// that all containers share: another would shut out the next sandbox over the
// same folder. belljar's own files are always among them, all of which lie in its
// cache then (see helper) or were made for the sandbox.
func (p *plan) relabeled(list []mount.Mount) (rest []mount.Mount, binds []string) {
	if !p.engine.labelsFiles() {
		return list, nil
	}
	for _, m := range list {
		workspace := m.Target == sandbox.MountPoint
		own := m.Target == helperInside || m.Target == "/etc/passwd" || m.Target == "/etc/group" ||
			p.hosts != "" && m.Source == p.hosts || sandbox.Mount{Target: m.Target}.Own()
		if !own && !(workspace && p.spec.Relabel) {
			rest = append(rest, m)
			continue
		}
		options := "z"
		if m.ReadOnly {
			options = "ro,z"
		}
		binds = append(binds, m.Source+":"+m.Target+":"+options)
	}
	return rest, binds
}
