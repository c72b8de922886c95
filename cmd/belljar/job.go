package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/ui"
	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/tools"
)

// A job is one run of the agent and everything that was opened for it.
type job struct {
	app     *app
	opts    *runOptions
	task    string
	model   *chosenModel
	search  *windowSearch // for what the model takes
	config  config        // the user's own
	spec    sandbox.Spec
	state   string       // the folder that sessions live in
	screen  *ui.Renderer // shows nothing with --quiet and --json
	secrets []string     // must not be in the record
	masker  *trajectory.Masker
	session *trajectory.Session
	jar     *jar
	outputs *outputs
	jobs    *tools.Jobs // what the model runs in the background
	folder  *workspace.Workspace
	agents  string // the text of the workspace's AGENTS.md
	record  *networkRecord
	mirror  *mirror   // prints the record; nil without --json
	asks    *prompter // asks the person at the terminal; nil is nobody
	stop    context.CancelCauseFunc
	gate    *gate          // the way out; nil is none
	closers []func() error // in the order of opening
}

// runTask runs the agent on one task. begun tells whether there was a record of
// it.
func (a *app) runTask(ctx context.Context, opts *runOptions, args []string) (begun bool, err error) {
	j := &job{app: a, opts: opts, record: &networkRecord{}}
	defer func() { err = errors.Join(err, j.close()) }()
	ctx, j.stop = context.WithCancelCause(ctx)
	defer j.stop(nil)
	defer a.last.set(nil)
	if err := j.prepare(args); err != nil {
		return false, err
	}
	if err := j.open(ctx); err != nil {
		return false, err
	}
	return true, j.run(ctx)
}

// prepare checks everything that needs no engine.
func (j *job) prepare(args []string) (err error) {
	if err := j.opts.checkTimeouts(); err != nil {
		return err
	}
	if err := j.opts.checkOnLost(); err != nil {
		return err
	}
	if j.task, err = j.app.readTask(args, j.opts.file); err != nil {
		return err
	}
	j.openScreen()
	if j.model, err = j.app.chooseModel(&j.opts.modelFlags, j.opts.prices); err != nil {
		return err
	}
	if err := j.opts.checkCost(j.model); err != nil {
		return err
	}
	if err := j.openGate(); err != nil {
		return err
	}
	if j.spec, err = j.app.place(&j.opts.sandboxFlags); err != nil {
		return err
	}
	if j.config, err = j.app.readConfig(j.opts.config, &j.spec); err != nil {
		return err
	}
	if j.state, err = stateDirFor(j.spec.Workspace, j.spec.Mounts); err != nil {
		return err
	}
	j.gate.fill(&j.spec)
	j.spec.Notify = func(text string) {
		// Before the run and after its end there is nobody to tell. A record that
		// cannot be written ends the run by the event that comes next.
		_ = j.record.Record(trajectory.Notice{Kind: trajectory.NoticeProxy, Text: text})
	}
	j.secrets = append(j.app.secrets(j.opts.baseURL, j.spec.Env), j.gate.hidden()...)
	j.masker = trajectory.NewMasker(j.secrets...)
	j.watchRecorded()
	j.app.leadOut(j.gate, &j.spec) // what it adds is no secret
	j.spec.Env = append(tools.BashEnv(), j.spec.Env...)
	return nil
}

// openGate makes the way out, if there is to be one.
func (j *job) openGate() (err error) {
	if !j.opts.json && !j.opts.quiet {
		j.asks = j.app.prompter(j.screen.Question)
	}
	if j.gate, err = j.app.openGate(&j.opts.networkFlags, j.record, j.asks.hosts()); err != nil {
		return err
	}
	j.closers = append(j.closers, j.gate.Close)
	return nil
}

// openScreen makes what shows the run to a person.
func (j *job) openScreen() {
	var out io.Writer = io.Discard
	if !j.opts.quiet && !j.opts.json {
		out = j.app.stderr
	}
	terminal := ui.Detect(out, j.app.getenv)
	j.screen = ui.NewRenderer(out, ui.Options{
		Terminal: terminal,
		// A log that takes both streams needs the answer once.
		FinalElsewhere: !terminal.Terminal && sameFile(j.app.stdout, out),
	})
	j.closers = append(j.closers, func() error { j.screen.Close(); return nil })
}

// open starts the sandbox and the record. A session of a run that could not
// start holds nothing, so it does not stay.
func (j *job) open(ctx context.Context) (err error) {
	hosts, injections := j.gate.rules()
	manifest := trajectory.Manifest{
		AllowHosts: hosts, InjectHeaders: injections,
		Task: j.masker.Mask(j.task), Workspace: j.spec.Workspace, Model: j.model.name, Provider: j.model.provider, Network: string(j.spec.Network),
		Budget: j.opts.budget(), Price: j.model.price.entry, PriceFrom: j.model.price.from,
		ContextWindow: j.model.window.tokens, ContextWindowFrom: j.model.window.from, IdleTimeoutMS: j.opts.idleTimeout.Milliseconds(),
		Config:    j.config.file,
		TimeoutMS: j.opts.timeout.Milliseconds(), MaxTimeoutMS: j.opts.maxTimeout.Milliseconds(),
		Images: j.opts.images, OnLost: j.opts.onLost, Approval: j.opts.approval.recorded(), Unguarded: !j.opts.guard, Versions: j.app.build.versions(),
	}
	if j.session, err = trajectory.Create(j.state, manifest); err != nil {
		return err
	}
	j.closers = append(j.closers, j.session.Close)
	j.app.last.set(j.forget)
	defer func() {
		if err != nil {
			err = errors.Join(err, j.session.Close(), os.RemoveAll(j.session.Dir))
		}
	}()
	j.spec.Session = j.session.ID
	j.spec.Mounts = append(j.spec.Mounts, sandbox.Mount{Source: j.session.Outputs(), Target: outputsPoint, ReadOnly: true})
	progress := j.app.stderr
	if j.opts.quiet {
		progress = io.Discard
	}
	j.search = j.model.searchWindow(ctx) // beside the start
	j.closers = append(j.closers, j.search.Close)
	if j.jar, err = j.app.open(ctx, &j.opts.sandboxFlags, j.spec, progress); err != nil {
		return err
	}
	j.closers = append(j.closers, j.jar.Close)
	j.renewing()
	if err := j.openFolders(); err != nil {
		return err
	}
	j.folder.Protect(j.jar.Info().Protected)
	if err := j.describe(); err != nil {
		return err
	}
	return j.openRecord()
}

// openFolders opens what the tools work on beside the sandbox: the folders that
// it sees, and the outputs of its commands.
func (j *job) openFolders() (err error) {
	info := j.jar.Info()
	if j.folder, err = workspace.Open(j.spec.Workspace, info.MountPoint, j.spec.Owner); err != nil {
		return err
	}
	j.closers = append(j.closers, j.folder.Close)
	inside := ""
	for _, m := range info.Mounts {
		if err := j.folder.Add(m); err != nil {
			return err
		}
		if m.Source == j.session.Outputs() {
			inside = m.Target
		}
	}
	if j.outputs, err = newOutputs(j.session.Outputs(), inside, j.masker); err != nil {
		return err
	}
	j.jobs = j.newJobs()
	// The sandbox is closed first, which ends all jobs at once.
	j.closers = append([]func() error{j.jobs.Close}, j.closers...)
	return nil
}

// describe writes down what the sandbox turned out to be, and shows it with
// what the model is told of the workspace.
func (j *job) describe() error {
	manifest, err := j.session.Manifest()
	if err != nil {
		return err
	}
	info := j.jar.Info()
	manifest.Image = trajectory.Image(info.Image)
	manifest.Engine, manifest.Runtime, manifest.User = info.Engine, info.Runtime, info.User
	manifest.Profile = string(info.Profile)
	manifest.Network, manifest.Loosened = string(info.Network), info.Loosened
	manifest.Protected = info.Protected.ReadOnly
	manifest.Variables = j.jar.variables
	manifest.Limits = limitsOf(info.Limits)
	for _, reading := range info.Readings {
		manifest.Readings = append(manifest.Readings, trajectory.Reading{
			Limit: reading.Limit, Asked: reading.Asked, Found: reading.Found, Source: string(reading.Source),
		})
	}
	for _, m := range j.userMounts() {
		manifest.Mounts = append(manifest.Mounts, trajectory.Mount(m))
	}
	if err := j.session.SetManifest(manifest); err != nil {
		return err
	}
	header := headerOf(j.session.ID, manifest)
	header.Task, header.MountPoint = firstLine(manifest.Task), info.MountPoint
	header.Started = time.Time{} // it is now
	unused, err := j.readInstructions()
	if err != nil {
		return err
	}
	header.Instructions = instructionsText(j.agents)
	header.Tools = j.config.names()
	j.screen.Header(header)
	if why := j.nobody(); why != "" && j.opts.approval != (approvals{}) {
		j.screen.Notice(fmt.Sprintf("nobody can be asked (%s), so the calls that --approval asks about are denied", why))
	}
	if unused != nil {
		j.screen.Notice(fmt.Sprintf("%s is not used: %v", instructionsFile, unused))
	}
	return nil
}

// limitsOf are a sandbox's limits as the record holds them.
func limitsOf(l sandbox.Limits) trajectory.Limits {
	return trajectory.Limits{Memory: l.Memory, CPUs: l.CPUs, CPUSet: l.CPUSet, Pids: l.Pids, NoFile: l.NoFile, Disk: l.Disk, Tmp: l.Tmp, Home: l.Home, Shm: l.Shm}
}

// openRecord joins what takes the events: the record first, so that nothing is
// shown that is not on record, then the screen; secrets are hidden from both.
func (j *job) openRecord() error {
	var record trajectory.Recorder = j.session.Writer()
	if j.opts.json {
		events, err := j.session.Events()
		if err != nil {
			return err
		}
		j.closers = append(j.closers, events.Close)
		j.mirror = &mirror{stop: j.stop, record: record, file: events, out: j.app.out()}
		record = j.mirror
	}
	j.record.begin(j.masker.Wrap(trajectory.Tee(record, j.screen)))
	j.app.last.set(j.abandon)
	return nil
}

// close gives back what was opened, the last first. Each has its own bound, so
// an interrupt does not leave a container behind.
func (j *job) close() error {
	var errs []error
	for i := len(j.closers) - 1; i >= 0; i-- {
		errs = append(errs, j.closers[i]())
	}
	j.closers = nil
	return errors.Join(errs...)
}
