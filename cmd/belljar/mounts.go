package main

import (
	"slices"
	"strings"

	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
)

// mountList checks --mount and gives the further folders. sockets are host
// paths that must not be inside.
func (f *sandboxFlags) mountList(sockets ...string) ([]sandbox.Mount, error) {
	var mounts []sandbox.Mount
	for _, text := range f.mounts {
		m, err := parseMount(text)
		if err != nil {
			return nil, err
		}
		if m.Source, err = workspace.CheckMount(m.Source, m.ReadOnly, sockets...); err != nil {
			return nil, refused(err)
		}
		mounts = append(mounts, m)
	}
	if err := sandbox.CheckMounts(mounts); err != nil {
		return nil, &usageError{err: err}
	}
	return mounts, nil
}

// targets are where mounts are seen inside, by whether they can be written.
func targets(mounts []sandbox.Mount) (readOnly, writable []string) {
	for _, m := range mounts {
		if m.ReadOnly {
			readOnly = append(readOnly, m.Target)
		} else {
			writable = append(writable, m.Target)
		}
	}
	return readOnly, writable
}

// userMounts are the further folders that the user asked for, as they are seen.
func (j *job) userMounts() []sandbox.Mount {
	return slices.DeleteFunc(slices.Clone(j.jar.Info().Mounts), func(m sandbox.Mount) bool { return m.Source == j.session.Outputs() })
}

// parseMount reads SRC:DST[:ro]. A source may hold colons, as C:\data does, and
// a target none, so that a mode which is not known is not taken for a name.
func parseMount(text string) (sandbox.Mount, error) {
	rest, readOnly := strings.CutSuffix(text, ":ro")
	i := strings.LastIndex(rest, ":/")
	if i <= 0 {
		return sandbox.Mount{}, usagef("--mount %q is not SRC:DST or SRC:DST:ro, where DST is an absolute path in the sandbox", text)
	}
	m := sandbox.Mount{Source: rest[:i], Target: rest[i+1:], ReadOnly: readOnly}
	if _, mode, found := strings.Cut(m.Target, ":"); found {
		return sandbox.Mount{}, usagef("--mount %q ends with %q: the only mode is ro, and without it the folder can be written", text, mode)
	}
	if m.Reserved() {
		return sandbox.Mount{}, usagef("--mount %q: %s is belljar's own; choose another target, such as /mnt/NAME", text, sandbox.OwnPoint)
	}
	return m, nil
}
