// Package doctor proves on the engine at hand what belljar promises about a
// sandbox. It starts one over a folder of its own and reads every guarantee
// back from inside, instead of trusting what was asked for.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/belljar/belljar/internal/escape"
	"github.com/belljar/belljar/sandbox"
)

// A Status is how a check ended.
type Status string

// The ends of a check.
const (
	OK   Status = "ok"
	Fail Status = "FAIL"
	// Weak: the check holds, and the profile that was asked for is weaker here
	// than strict; Detail says what was loosened.
	Weak Status = "weak"
	// Skip: the check says nothing here; Detail says why.
	Skip Status = "skip"
)

// A Check is the end of one check.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
}

// An Engine is what the checks need of an engine.
type Engine interface {
	sandbox.Runtime
	// Description names the engine and its version.
	Description() string
	// EnsureImage makes sure that an image is there, building it if need be.
	EnsureImage(ctx context.Context, ref string, progress io.Writer) (sandbox.Image, error)
}

// Options say what to check. Every field is required unless it says otherwise.
type Options struct {
	// Connect reaches the engine. The caller closes it after Run.
	Connect func(ctx context.Context) (Engine, error)
	// Spec is the sandbox to check; its workspace and owner are filled in.
	Spec sandbox.Spec
	// OwnerOf says whom files in a folder must belong to.
	OwnerOf func(dir string) (sandbox.Owner, error)
	// TempDir is where the folders of the checks are made; "" is the system's
	// folder for temporary files. The engine must be able to see it.
	TempDir string
	// Secrets are values in this process's environment that must not be seen
	// inside. They are never handed to the sandbox. May be empty.
	Secrets []string
	// KeyFiles are paths of this machine where keys are kept; nothing may be
	// seen there inside. May be empty.
	KeyFiles []string
	// Child makes a belljar of its own that runs a script over a workspace, and
	// Owned counts the containers over a workspace, a path without links: they
	// show what a kill leaves. Where either is nil that is not checked.
	Child func(workspace, script string) *exec.Cmd
	Owned func(ctx context.Context, workspace string) (int, error)
	// Progress takes the talk of an image that has to be built; nil discards.
	Progress io.Writer
}

// A Summary counts the checks by how they ended.
type Summary struct {
	// Made is the number of checks that were reported: Held, Weak, Failed and
	// Skipped together.
	Made, Held, Weak, Failed, Skipped int
	// NotMade is the number of checks that stand on one that failed.
	NotMade int
}

// Good tells whether no check failed.
func (s Summary) Good() bool { return s.Failed == 0 }

// Run makes the checks in order and reports each as it ends. Where a check
// fails that later ones stand on, those are not reported. It returns what they
// came to; an error means that the checks themselves could not be made.
func Run(ctx context.Context, opts Options, report func(Check)) (Summary, error) {
	if opts.Progress == nil {
		opts.Progress = io.Discard
	}
	dir, err := os.MkdirTemp(opts.TempDir, "belljar-doctor-")
	if err != nil {
		return Summary{}, fmt.Errorf("making a folder for the checks: %w", err)
	}
	defer os.RemoveAll(dir)
	e := &examination{opts: opts, dir: dir, report: report, held: make(map[string]bool)}
	checks := e.checks()
	for _, c := range checks {
		if failed := e.check(ctx, c); failed && c.needed || ctx.Err() != nil {
			break
		}
	}
	e.remove()
	if ctx.Err() != nil {
		return Summary{}, context.Cause(ctx)
	}
	// The removal is a check as well, though not in the list.
	e.summary.NotMade = len(checks) + 1 - e.summary.Made
	return e.summary, nil
}

// errSkip is wrapped by a check that says nothing here.
var errSkip = errors.New("not checked")

// errWeak is wrapped by a check that holds as far as the profile goes.
var errWeak = errors.New("loosened")

// A check proves one guarantee. Its detail says what was seen, its error what
// is wrong and what to do.
type check struct {
	name   string
	needed bool // the checks after it stand on this one
	run    func(ctx context.Context) (detail string, err error)
}

// An examination is one run of the checks.
type examination struct {
	opts    Options
	dir     string // holds the workspace and what must not be seen
	report  func(Check)
	summary Summary

	engine  Engine
	image   sandbox.Image
	owner   sandbox.Owner
	sandbox sandbox.Sandbox // nil until the check that starts it

	stress sandbox.Sandbox // the one that is driven to its limits, or nil

	held     map[string]bool  // the checks that ended well
	findings []escape.Finding // nil until the attempts were made
}

// checks lists the checks in the order in which they stand on each other.
func (e *examination) checks() []check {
	checks := []check{
		{name: "engine", needed: true, run: e.checkEngine},
		{name: "image", needed: true, run: e.checkImage},
		{name: "sandbox", needed: true, run: e.checkStart},
		{name: "memory", run: e.checkMemory},
		{name: "cpus", run: e.checkCPUs},
		{name: "processes", run: e.checkPids},
		{name: "open files", run: e.checkNoFile},
		{name: "temporary space", run: e.checkTmpfs},
		{name: "user", run: e.checkUser},
		{name: "ownership", run: e.checkOwnership},
		{name: "read-only root", run: e.checkReadOnly},
		{name: "privileges", run: e.checkPrivileges},
		{name: "network", run: e.checkNetwork},
		{name: "named hosts", run: e.checkNamedHosts},
		{name: "host files", run: e.checkHostFiles},
		{name: "host processes", run: e.checkHostProcesses},
		{name: "secrets", run: e.checkSecrets},
		{name: "git", run: e.checkGit},
	}
	for _, area := range escape.Areas() {
		checks = append(checks, check{name: "escape: " + string(area), run: e.checkEscape(area)})
	}
	return append(checks,
		check{name: "full memory", run: e.checkFullMemory},
		check{name: "fork bomb", run: e.checkForkBomb},
		check{name: "full disks", run: e.checkFullDisks},
		check{name: "disk limit", run: e.checkDiskLimit},
		check{name: "timeout", run: e.checkTimeout},
		check{name: "kill of belljar", run: e.checkKill},
	)
}

// removalName is the check that comes last and is not in the list.
const removalName = "removal"

// Names are the names of all checks, in their order.
func Names() []string {
	var names []string
	for _, c := range new(examination).checks() {
		names = append(names, c.name)
	}
	return append(names, removalName)
}

// check makes one check, reports it, and returns whether it failed.
func (e *examination) check(ctx context.Context, c check) bool {
	detail, err := c.run(ctx)
	result := Check{Name: c.name, Status: OK, Detail: detail}
	switch {
	case ctx.Err() != nil:
		return true // a check that was interrupted says nothing
	case errors.Is(err, errSkip):
		result.Status, result.Detail = Skip, err.Error()
	case errors.Is(err, errWeak):
		result.Status, result.Detail = Weak, err.Error()
	case err != nil:
		result.Status, result.Detail = Fail, err.Error()
	}
	e.tell(result)
	return result.Status == Fail
}

// tell counts and reports a check that has ended.
func (e *examination) tell(c Check) {
	e.summary.Made++
	switch c.Status {
	case OK:
		e.summary.Held++
		e.held[c.Name] = true
	case Weak:
		e.summary.Weak++
		e.held[c.Name] = true
	case Fail:
		e.summary.Failed++
	case Skip:
		e.summary.Skipped++
	}
	e.report(c)
}

// remove ends the sandboxes, which is the last check: that nothing stays behind
// is a promise as well. It takes no context, since it must outlive a cancel.
func (e *examination) remove() {
	if e.sandbox == nil {
		return
	}
	result := Check{Name: removalName, Status: OK, Detail: "nothing is left"}
	err := e.sandbox.Close()
	if e.stress != nil {
		err = errors.Join(err, e.stress.Close())
	}
	if err != nil {
		result.Status, result.Detail = Fail, err.Error()
	}
	e.tell(result)
}
