package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/belljar/belljar/images"
	"github.com/belljar/belljar/internal/tripwire"
	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
)

// A jar is a sandbox over the user's folder, and what it stands on. Close
// gives all of it back.
type jar struct {
	sandbox.Sandbox
	wire      *tripwire.Wire // over the files of the folder that the host obeys
	engine    engine
	swept     chan struct{} // closed when the sweep has ended
	stopSweep context.CancelFunc
	loosened  []string // what the flags let in that the sandbox does not know of
	variables []string // names of what they hand to commands
}

// Info says what the sandbox turned out to be, with all that is weaker than
// strict.
func (j *jar) Info() sandbox.Info {
	info := j.Sandbox.Info()
	info.Loosened = slices.Concat(info.Loosened, j.loosened)
	return info
}

// place checks everything about the command line that needs no engine and
// gives the sandbox to start.
func (a *app) place(f *sandboxFlags) (sandbox.Spec, error) {
	network, err := f.mode()
	if err != nil {
		return sandbox.Spec{}, err
	}
	if _, err := f.options(); err != nil {
		return sandbox.Spec{}, err
	}
	env, err := f.environment(a)
	if err != nil {
		return sandbox.Spec{}, err
	}
	folder, err := workspace.Check(f.workspace, f.force)
	if err != nil {
		return sandbox.Spec{}, refused(err)
	}
	if f.relabel && f.force {
		return sandbox.Spec{}, usagef("--relabel changes every file of a folder, and --force-workspace says that it may be one that others need: give one of them")
	}
	mounts, err := f.mountList()
	if err != nil {
		return sandbox.Spec{}, err
	}
	owner, err := workspace.OwnerOf(folder)
	if err != nil {
		return sandbox.Spec{}, err
	}
	spec := sandbox.Spec{
		Workspace: folder, Mounts: mounts, Owner: owner, Image: f.image, Runtime: f.runtime,
		Network: network, Limits: f.limits(), AllowMissingLimits: f.allowMissing, Env: env, Unprotected: !f.protect, Relabel: f.relabel,
	}
	if spec.Image == "" {
		spec.Image = images.Tag()
	}
	if spec, err = f.apply(spec); err != nil {
		return spec, err
	}
	if err := spec.CheckMounts(); err != nil {
		return spec, &usageError{err: err}
	}
	return spec, nil
}

// open starts a sandbox. Talk of an image that has to be built first goes to
// progress. The caller closes the jar.
func (a *app) open(ctx context.Context, f *sandboxFlags, spec sandbox.Spec, progress io.Writer) (_ *jar, err error) {
	opts, err := f.options()
	if err != nil {
		return nil, err
	}
	connected, err := a.connect(ctx, opts)
	if err != nil {
		return nil, err
	}
	j := &jar{engine: connected, swept: make(chan struct{})}
	j.variables = f.variables(spec.Env)
	j.loosened = f.loosened(j.variables)
	defer func() {
		if err != nil {
			err = errors.Join(err, j.closeEngine())
		}
	}()
	j.sweep(ctx)
	if err := f.checkEngine(connected, spec); err != nil {
		return nil, err
	}
	if _, err = connected.EnsureImage(ctx, spec.Image, progress); err != nil {
		return nil, err
	}
	if spec.Protect, err = a.protection(spec); err != nil {
		return nil, err
	}
	slow := func() { fmt.Fprintln(progress, "belljar: "+slowLook) }
	err = tellSlow(lookPatience, slow, func() (err error) {
		j.wire, err = tripwire.Set(spec.Workspace, tripwire.Options{})
		return err
	})
	if err != nil {
		return nil, err
	}
	if j.Sandbox, err = connected.Start(ctx, spec); err != nil {
		return nil, err
	}
	for _, reading := range sandbox.Missing(j.Info().Readings) {
		a.notice("a limit does not hold here: %s", reading)
	}
	return j, nil
}

// checkEngine checks the folders once more, now that it is known which socket
// must not be inside, and where the engine keeps its data.
func (f *sandboxFlags) checkEngine(e engine, spec sandbox.Spec) error {
	var sockets []string
	if socket, ok := strings.CutPrefix(e.Endpoint().Host, "unix://"); ok {
		sockets = append(sockets, socket)
		if _, err := workspace.Check(f.workspace, f.force, socket); err != nil {
			return refused(err)
		}
	}
	if !f.force {
		if err := workspace.CheckEngineData(spec.Workspace, e.DataRoot()); err != nil {
			return refused(err)
		}
	}
	mounts, err := f.mountList(sockets...)
	if err != nil {
		return err
	}
	for _, m := range spec.Mounts {
		if m.Target != sandbox.ProgramsPoint {
			continue
		}
		if _, err := workspace.CheckMount(m.Source, m.ReadOnly, sockets...); err != nil {
			return refused(err)
		}
		mounts = append(mounts, m)
	}
	for _, m := range mounts {
		if err := workspace.CheckMountEngineData(m.Source, e.DataRoot()); err != nil {
			return refused(err)
		}
	}
	return nil
}

// protection is what of the workspace commands may not change, unless the user
// said otherwise. What cannot be held is said.
func (a *app) protection(spec sandbox.Spec) (sandbox.Protection, error) {
	if spec.Unprotected {
		return sandbox.Protection{}, nil
	}
	protection, notes, err := workspace.GitProtection(spec.Workspace, spec.Owner)
	if err != nil {
		return sandbox.Protection{}, refused(err)
	}
	for _, note := range notes {
		a.notice("%s", note)
	}
	return protection, nil
}

// sweep removes what belljars that died left on the engine, beside the work
// that was asked for. It is a courtesy: its failure stops nobody.
func (j *jar) sweep(ctx context.Context) {
	ctx, j.stopSweep = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(j.swept)
		_, _ = j.engine.Sweep(ctx)
	}()
}

// closeEngine ends the sweep and gives the engine back.
func (j *jar) closeEngine() error {
	j.stopSweep()
	<-j.swept
	return j.engine.Close()
}

// Close removes the sandbox and gives the engine back.
func (j *jar) Close() error { return errors.Join(j.Sandbox.Close(), j.closeEngine()) }
