package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/egress"
	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
)

// settings are those of the recorded run as flags would give them, with what
// replay's own flags say otherwise. The workspace and the mounts are still to be
// filled in.
func (o *replayOptions) settings(m trajectory.Manifest) sandboxFlags {
	loose := func(entry string) bool { return slices.Contains(m.Loosened, entry) }
	f := sandboxFlags{
		engineFlags: o.engineFlags, limitFlags: o.limitFlags, networkFlags: o.networkFlags,
		profileFlags: profileFlags{
			profile: cmp.Or(m.Profile, string(sandbox.ProfileStrict)),
			user:    string(sandbox.UserOwner), rootFS: string(sandbox.RootReadOnly),
		},
		env: o.env, pass: o.pass, protect: !loose("protect=false"),
		relabel: slices.ContainsFunc(m.Loosened, func(entry string) bool { return strings.HasPrefix(entry, "relabel=") }),
	}
	if loose("user=" + string(sandbox.UserRoot)) {
		f.user = string(sandbox.UserRoot)
	}
	if loose("rootfs=" + string(sandbox.RootWritable)) {
		f.rootFS = string(sandbox.RootWritable)
	}
	f.image = o.imageRef(m)
	// Engines differ in which of these they call their own, and it does not
	// matter to commands.
	if f.runtime == "" && m.Runtime != "runc" && m.Runtime != "crun" {
		f.runtime = m.Runtime
	}
	if f.memory == 0 { // of another memory they are other parts
		f.tmpSize, f.homeSize, f.shmSize = cmp.Or(f.tmpSize, m.Limits.Tmp), cmp.Or(f.homeSize, m.Limits.Home), cmp.Or(f.shmSize, m.Limits.Shm)
	}
	f.memory, f.disk = cmp.Or(f.memory, m.Limits.Memory), cmp.Or(f.disk, m.Limits.Disk)
	f.cpus, f.cpuset, f.pids = cmp.Or(f.cpus, m.Limits.CPUs), cmp.Or(f.cpuset, m.Limits.CPUSet), cmp.Or(f.pids, float64(m.Limits.Pids))
	// A copy of a folder that was insisted on then is no other folder.
	f.force = o.dir == "" && forced(m)
	f.allowMissing = f.allowMissing || slices.ContainsFunc(m.Loosened, func(entry string) bool { return strings.HasSuffix(entry, "=not in force") })
	if !f.given() {
		f.record(m)
	}
	return f
}

// given tells whether one of the flags was given.
func (f *networkFlags) given() bool {
	return f.network != "" || len(f.allow)+len(f.allowPrivate)+len(f.inject) > 0
}

// record takes over the recorded way out.
func (f *networkFlags) record(m trajectory.Manifest) {
	switch sandbox.Network(m.Network) {
	case sandbox.NetworkBridge, sandbox.NetworkAllow:
		f.network = m.Network
	default: // what a flag cannot ask for is no way out
		f.network = string(sandbox.NetworkNone)
		return
	}
	for _, rule := range m.AllowHosts {
		if host, private := egress.CutPrivate(rule); private {
			f.allowPrivate = append(f.allowPrivate, host)
		} else {
			f.allow = append(f.allow, host)
		}
	}
}

// lackingHeaders says what of the recorded way out cannot be had from the
// record: the values of headers are not on it.
func (o *replayOptions) lackingHeaders(m trajectory.Manifest) []string {
	if o.given() {
		return nil
	}
	var lines []string
	for _, injection := range m.InjectHeaders {
		lines = append(lines, fmt.Sprintf("the header of %s is not on record, and the host not allowed now; --inject-header and the other rules by hand allow it", injection))
	}
	return lines
}

// forced tells whether the run's folder was insisted on.
func forced(m trajectory.Manifest) bool { return slices.Contains(m.Loosened, "force-workspace=true") }

// lackingVariables says which variables commands had then and do not have now:
// their values are not on record.
func (o *replayOptions) lackingVariables(m trajectory.Manifest) []string {
	given := append(slices.Clone(o.env), o.pass...)
	var lines []string
	for _, name := range m.Variables {
		if !slices.ContainsFunc(given, func(entry string) bool { before, _, _ := strings.Cut(entry, "="); return before == name }) {
			lines = append(lines, fmt.Sprintf("the value of the variable %s is not on record, and it is not set now; --env or --pass-env sets it", name))
		}
	}
	return lines
}

// mountFlags are the further folders of the run: those that it could only read,
// and by copy those that it could write. What is not there any more is told.
func (r *replayJob) mountFlags(copyOf func(source string) (string, error)) ([]string, error) {
	var flags []string
	for _, m := range r.manifest.Mounts {
		if sandbox.Mount(m).Own() {
			continue
		}
		source, suffix := m.Source, ":ro"
		if info, err := os.Stat(source); err != nil || !info.IsDir() {
			r.talk("the folder %s, which the run saw at %s, is not there any more; the calls run without it", source, m.Target)
			continue
		}
		if !m.ReadOnly {
			var err error
			if source, err = copyOf(source); err != nil {
				return nil, err
			}
			suffix = ""
			r.talk("%s is a copy of %s as it is now", m.Target, m.Source)
		}
		flags = append(flags, source+":"+m.Target+suffix)
	}
	return flags, nil
}

// programs is the folder with the programs of the user's own tools, where the
// run had one.
func (r *replayJob) programs() []sandbox.Mount {
	for _, m := range r.manifest.Mounts {
		if m.Target != sandbox.ProgramsPoint {
			continue
		}
		source, err := workspace.CheckMount(m.Source, true)
		if err != nil {
			r.talk("the folder %s with the programs of your tools is not to be had: %v; the calls run without it", m.Source, err)
			return nil
		}
		return []sandbox.Mount{{Source: source, Target: sandbox.ProgramsPoint, ReadOnly: true}}
	}
	return nil
}
