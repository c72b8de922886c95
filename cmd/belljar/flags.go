package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/docker"
)

// engineFlags say which engine to use.
type engineFlags struct{ host, context string }

func (f *engineFlags) add(flags *pflag.FlagSet) {
	addText(flags, &f.host, "host", "", "", "address of the engine, such as unix:///run/docker.sock")
	addText(flags, &f.context, "context", "", "", "Docker context to use")
}

// options checks the flags and gives what reaches the engine.
func (f *engineFlags) options() (docker.Options, error) {
	if f.host != "" && f.context != "" {
		return docker.Options{}, usagef("--host and --context both name an engine; give one of them")
	}
	return docker.Options{Host: f.host, Context: f.context}, nil
}

// limitFlags say what a sandbox is made from and what it may use.
type limitFlags struct {
	image, runtime string
	memory         int64
	cpus, pids     float64
	disk           int64

	tmpSize, homeSize, shmSize int64
	cpuset                     string
	allowMissing               bool
}

func (f *limitFlags) add(flags *pflag.FlagSet) {
	addText(flags, &f.image, "image", "", "", "image of the sandbox (default: belljar's own, built when missing)")
	addText(flags, &f.runtime, "runtime", "", "", "runtime of the engine, such as runsc (default: the engine's)")
	flags.Var(sizeValue{&f.memory, sandbox.MinMemory}, "memory", "limit on memory, swap included: 512m, 2g (default 2g, or half of the engine's)")
	flags.Var(numberValue{number: &f.cpus, least: 0.01}, "cpus", "limit on processors (default 2, or what the engine has)")
	flags.Var(cpusetValue{&f.cpuset}, "cpuset", "processors to run on, such as 0,2 or 0-3 (default: any)")
	flags.Var(numberValue{number: &f.pids, whole: true, least: sandbox.MinPids}, "pids", fmt.Sprintf("limit on processes and threads (default %d)", sandbox.DefaultPids))
	flags.Var(diskValue{&f.disk}, "disk", "limit on what commands add on disk, and on each file: 500m, 20g, none (default 10g, or half of what is free); a watch ends what is seen over it, and each later command may write 16m more")
	flags.Var(sizeValue{&f.tmpSize, sandbox.MiB}, "tmp-size", "size of /tmp, in memory (default by profile and --memory)")
	flags.Var(sizeValue{&f.homeSize, sandbox.MiB}, "home-size", "size of the home folder, in memory (default by profile and --memory)")
	flags.Var(sizeValue{&f.shmSize, sandbox.MiB}, "shm-size", "size of /dev/shm, in memory (default by profile and --memory)")
	flags.BoolVar(&f.allowMissing, "allow-missing-limits", false, "go on where the engine cannot enforce a limit, and say which")
}

// limits are the limits that were asked for; zero is the default.
func (f *limitFlags) limits() sandbox.Limits {
	return sandbox.Limits{
		Memory: f.memory, CPUs: f.cpus, CPUSet: f.cpuset, Pids: int64(f.pids), Disk: f.disk,
		Tmp: f.tmpSize, Home: f.homeSize, Shm: f.shmSize,
	}
}

// profileFlags choose the profile and overrule single settings of it.
type profileFlags struct{ profile, user, rootFS string }

func (f *profileFlags) add(flags *pflag.FlagSet) {
	addText(flags, &f.profile, "profile", "", string(sandbox.ProfileStrict),
		"strict, or dev: commands are root inside and may install software")
	addText(flags, &f.user, "user", "", "", "whom commands run as: owner, or root inside (default by profile)")
	addText(flags, &f.rootFS, "rootfs", "", "", "read-only or writable system (default by profile)")
}

// apply puts the settings into a spec, with the profile's values for those
// that were not given.
func (f *profileFlags) apply(spec sandbox.Spec) (sandbox.Spec, error) {
	spec.Profile, spec.User, spec.RootFS = sandbox.Profile(f.profile), sandbox.User(f.user), sandbox.RootFS(f.rootFS)
	spec, err := spec.WithProfile()
	if err != nil {
		return spec, &usageError{err: err}
	}
	return spec, nil
}

// sandboxFlags are the flags of every verb that runs something in a sandbox
// over the user's own folder.
type sandboxFlags struct {
	engineFlags
	limitFlags
	profileFlags
	workspace string
	force     bool
	networkFlags
	env, pass []string
	mounts    []string
	protect   bool
	relabel   bool
}

func (f *sandboxFlags) add(flags *pflag.FlagSet) {
	addText(flags, &f.workspace, "workspace", "w", ".", "folder to work on")
	flags.BoolVar(&f.force, "force-workspace", false, "work on a folder that is refused otherwise, such as the home folder")
	f.networkFlags.add(flags)
	flags.StringArrayVar(&f.env, "env", nil, "environment variable K=V for commands (may be repeated)")
	flags.StringArrayVar(&f.pass, "pass-env", nil, "variable K of belljar's own environment to hand on (may be repeated)")
	flags.BoolVar(&f.protect, "protect", true, "keep the workspace's .git/config and .git/hooks, which programs on the host obey, from being changed; --protect=false lets commands change them")
	flags.StringArrayVar(&f.mounts, "mount", nil, "further folder SRC:DST to mount at DST, read-only with :ro (may be repeated)")
	flags.BoolVar(&f.relabel, "relabel", false, "on hosts with SELinux, give the workspace the label that containers may use")
	f.profileFlags.add(flags)
	f.limitFlags.add(flags)
	f.engineFlags.add(flags)
}

// environment checks --env and --pass-env and gives the variables for
// commands. Nothing else of belljar's own environment ever gets inside.
func (f *sandboxFlags) environment(a *app) ([]string, error) {
	var env []string
	for _, pair := range f.env {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usagef("--env %q is not K=V; --pass-env K hands on a variable of belljar's own", pair)
		}
		a.warnOfKey("--env", name, value)
		env = append(env, pair)
	}
	for _, name := range f.pass {
		if name == "" || strings.Contains(name, "=") {
			return nil, usagef("--pass-env %q is not the name of a variable; --env K=V sets one", name)
		}
		value, ok := a.lookupEnv(name)
		if !ok {
			a.notice("--pass-env %s: the variable is not set, so it is not handed on", name)
			continue
		}
		a.warnOfKey("--pass-env", name, value)
		env = append(env, name+"="+value)
	}
	for _, pair := range env {
		if strings.ContainsRune(pair, 0) {
			name, _, _ := strings.Cut(pair, "=")
			return nil, usagef("the value of %s holds a NUL byte, which no environment can hold", name)
		}
	}
	return env, nil
}

// variables are the names of the variables that the flags hand to commands;
// env holds all that were handed on.
func (f *sandboxFlags) variables(env []string) []string {
	var names []string
	for _, pair := range slices.Concat(f.env, f.pass) {
		name, _, _ := strings.Cut(pair, "=")
		handed := slices.ContainsFunc(env, func(pair string) bool { return strings.HasPrefix(pair, name+"=") })
		if handed && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// loosened names what the flags let in that is no setting of a sandbox: a
// folder that is refused otherwise, hosts of a private network, and what the
// host's own environment holds. variables are the names that are handed on.
func (f *sandboxFlags) loosened(variables []string) []string {
	var list []string
	if f.force {
		list = append(list, "force-workspace=true")
	}
	for _, host := range f.allowPrivate {
		list = append(list, "allow-private-host="+host)
	}
	for _, name := range f.pass {
		if slices.Contains(variables, name) {
			list = append(list, "pass-env="+name)
		}
	}
	return list
}

// warnOfKey says so where a variable hands a key of the model's server on.
func (a *app) warnOfKey(flag, name, value string) {
	switch {
	case len(keysIn(name, value)) == 0:
	case isKeyVariable(name):
		a.notice("%s %s: whatever runs in the sandbox can read this key", flag, name)
	default:
		a.notice("%s %s: whatever runs in the sandbox can read the key in this address", flag, name)
	}
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no argument, but %q was given", cmd.Name(), args[0])
	}
	return nil
}
