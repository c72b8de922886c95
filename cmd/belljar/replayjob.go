package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/belljar/belljar/agent/replay"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/ui"
	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/pool"
	"github.com/belljar/belljar/tools"
)

// A replayJob is one replay and everything that was opened for it.
type replayJob struct {
	app      *app
	opts     *replayOptions
	recorded *trajectory.Session
	manifest trajectory.Manifest
	scratch  string // holds the copies and the outputs
	job      *job   // what a run has: the sandbox and the folders on it
	agents   *replayAgents
	log      *networkLog
	closers  []func() error // in the order of opening
}

// talk says a line to the person, who is there without --json.
func (r *replayJob) talk(format string, args ...any) {
	if !r.opts.json {
		r.app.notice(format, args...)
	}
}

// open makes what the calls run on.
func (r *replayJob) open(ctx context.Context) error {
	flags := r.opts.settings(r.manifest)
	for _, line := range append(r.opts.lackingHeaders(r.manifest), r.opts.lackingVariables(r.manifest)...) {
		r.talk("%s", line)
	}
	if err := r.openScratch(); err != nil {
		return err
	}
	var err error
	if flags.workspace, err = r.folder(ctx); err != nil {
		return err
	}
	flags.mounts, err = r.mountFlags(func(source string) (string, error) { return r.copyOf(ctx, source) })
	if err != nil {
		return err
	}
	r.log = &networkLog{}
	j := &job{
		app: r.app, record: &networkRecord{}, screen: ui.NewRenderer(io.Discard, ui.Options{}),
		// What a run has in the folder of its session is here in one that does not
		// stay.
		session: &trajectory.Session{Dir: r.scratch},
		opts: &runOptions{
			sandboxFlags:  flags,
			timeout:       time.Duration(r.manifest.TimeoutMS) * time.Millisecond,
			maxTimeout:    time.Duration(r.manifest.MaxTimeoutMS) * time.Millisecond,
			approvalFlags: approvalFlags{guard: !r.manifest.Unguarded},
		},
	}
	j.opts.images = r.manifest.Images
	r.job = j
	r.agents = &replayAgents{job: j, manifest: r.manifest}
	// The sandbox is closed first, which ends all jobs at once.
	r.closers = append(r.closers, r.agents.close, j.close)
	return r.openSandbox(ctx)
}

// openSandbox starts the sandbox and opens the folders for the tools.
func (r *replayJob) openSandbox(ctx context.Context) (err error) {
	j := r.job
	if j.gate, err = r.app.openGate(&j.opts.networkFlags, r.log, nil); err != nil {
		return err
	}
	j.closers = append(j.closers, j.gate.Close)
	if j.spec, err = r.app.place(&j.opts.sandboxFlags); err != nil {
		return err
	}
	if r.opts.dir != "" {
		r.talk("the calls run on %s itself", r.opts.dir)
	}
	j.spec.Mounts = append(j.spec.Mounts, r.programs()...)
	if _, err := stateDirFor(j.spec.Workspace, j.spec.Mounts); err != nil {
		return err
	}
	j.gate.fill(&j.spec)
	j.masker = trajectory.NewMasker(append(r.app.secrets("", j.spec.Env), j.gate.hidden()...)...)
	r.app.leadOut(j.gate, &j.spec)
	j.spec.Env = append(tools.BashEnv(), j.spec.Env...)
	j.spec.Mounts = append(j.spec.Mounts, sandbox.Mount{Source: j.session.Outputs(), Target: outputsPoint, ReadOnly: true})
	progress := r.app.stderr
	if r.opts.json {
		progress = io.Discard
	}
	if j.jar, err = r.app.open(ctx, &j.opts.sandboxFlags, j.spec, progress); err != nil {
		return err
	}
	j.closers = append(j.closers, j.jar.Close)
	if err := j.openFolders(); err != nil {
		return err
	}
	j.folder.Protect(j.jar.Info().Protected)
	r.describe()
	return nil
}

// openScratch makes the folder for what does not stay.
func (r *replayJob) openScratch() error {
	dir, err := os.MkdirTemp("", "belljar-replay-")
	if err == nil {
		r.closers = append(r.closers, r.removeScratch)
		r.scratch = dir
		r.scratch, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(r.scratch, "outputs"), 0o700)
	}
	if err != nil {
		return fmt.Errorf("making a temporary folder: %w; TMPDIR names where", err)
	}
	return nil
}

// removeScratch takes away what does not stay, unless it was asked for.
func (r *replayJob) removeScratch() error {
	if r.opts.keep {
		r.app.notice("kept: %s", r.scratch)
		return nil
	}
	if err := os.RemoveAll(r.scratch); err != nil {
		r.app.notice("the temporary folder could not be removed: %v", err) // what was to be told has been told
	}
	return nil
}

// folder is where the calls run, and says what was taken.
func (r *replayJob) folder(ctx context.Context) (string, error) {
	if r.opts.dir != "" {
		return r.opts.dir, nil
	}
	if _, err := os.Stat(r.manifest.Workspace); errors.Is(err, fs.ErrNotExist) {
		return "", refusedf("the run's workspace %s does not exist any more; name a folder to replay on with -C", r.manifest.Workspace)
	}
	from, err := workspace.Check(r.manifest.Workspace, forced(r.manifest))
	if err != nil {
		return "", refusedf("the run's %w; or name a folder to replay on with -C", err)
	}
	r.talk("the calls run on a copy of %s as it is now; the state that the run began on is not kept (-C DIR: on another folder)", from)
	return r.copyOf(ctx, from)
}

// copyOf makes a temporary copy of a folder that belongs to whom the folder
// belongs to.
func (r *replayJob) copyOf(ctx context.Context, from string) (string, error) {
	owner, err := workspace.OwnerOf(from)
	if err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		to := filepath.Join(r.scratch, "folder"+strconv.Itoa(n))
		if err := os.Mkdir(to, 0o700); errors.Is(err, os.ErrExist) {
			continue
		} else if err != nil {
			return "", fmt.Errorf("copying %s: %w; TMPDIR names where to", from, err)
		}
		if err := pool.CopyOf(from, owner)(ctx, to); errors.Is(err, pool.ErrInside) {
			return "", refusedf("%w; TMPDIR names another place for it, and -C a folder that need not be copied", err)
		} else if err != nil {
			return "", fmt.Errorf("%w; TMPDIR names where to, and -C a folder that need not be copied", err)
		}
		return to, nil
	}
}

// run runs the calls.
func (r *replayJob) run(ctx context.Context, reader *trajectory.Reader, patterns []*regexp.Regexp) (replay.Summary, error) {
	r.app.last.set(func() { r.app.notice("%s", abandonedText) })
	defer r.app.last.set(nil)
	opts := replay.Options{
		Caller: r.agents, Hide: r.job.masker.Hide, Ignore: patterns, Pace: r.opts.pace, OnCall: r.tell,
		Lacks: r.agents.lacks,
	}
	for dir, into := range map[string]*fs.FS{r.recorded.Dir: &opts.Recorded, r.scratch: &opts.Replayed} {
		if root, err := os.OpenRoot(dir); err == nil { // one that is gone has nothing to compare
			defer root.Close()
			*into = root.FS()
		}
	}
	return replay.Run(ctx, reader, opts)
}

// finish removes the sandbox and tells what it left on a folder of the user's,
// also where it is not sure that it has ended.
func (r *replayJob) finish() error {
	report, alive, riskErr := r.job.jar.risks()
	err := r.job.close()
	if r.opts.dir != "" {
		teller := riskTeller{folder: r.job.spec.Workspace, save: commandKeeper(r.job.spec).keep, alive: alive}
		for _, line := range teller.lines(report) {
			r.app.noticeWhole(line)
		}
		err = errors.Join(err, riskErr)
	}
	if err != nil {
		return err
	}
	for _, line := range r.log.lines() {
		r.talk("%s", line)
	}
	return nil
}

// close gives back what was opened, the last first.
func (r *replayJob) close() error {
	var errs []error
	for i := len(r.closers) - 1; i >= 0; i-- {
		errs = append(errs, r.closers[i]())
	}
	r.closers = nil
	return errors.Join(errs...)
}
