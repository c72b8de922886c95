package docker

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/docker/docker/api/types/image"
	"golang.org/x/sys/unix"

	"github.com/belljar/belljar/images"
)

// mmdebstrapGrace is how long mmdebstrap may take to remove its files after it
// was asked to end.
const mmdebstrapGrace = 20 * time.Second

// checkDebianWay says why this machine cannot build the image from Debian's
// packages and what would change that.
func (e *Engine) checkDebianWay() error {
	if _, err := exec.LookPath("mmdebstrap"); err != nil {
		return errors.New("mmdebstrap is not installed; run: sudo apt-get install mmdebstrap")
	}
	if e.info.OSType != "linux" || normalArch(e.info.Architecture) != normalArch(runtime.GOARCH) {
		return fmt.Errorf("the engine runs %s/%s and this machine linux/%s; let the engine reach a registry",
			e.info.OSType, normalArch(e.info.Architecture), runtime.GOARCH)
	}
	if os.Geteuid() != 0 && !mayUnshare() {
		return errors.New("that needs root or subordinate user ids here; run once: sudo belljar image build")
	}
	return nil
}

// mayUnshare reports whether a user other than root can make a user namespace
// with many ids, which mmdebstrap's mode "unshare" needs.
func mayUnshare() bool {
	if _, err := exec.LookPath("newuidmap"); err != nil {
		return false
	}
	setting, err := os.ReadFile("/proc/sys/kernel/unprivileged_userns_clone")
	return err != nil || strings.TrimSpace(string(setting)) != "0"
}

// buildFromDebian builds the default image from Debian's packages. The root file
// system goes to the engine through a pipe. The image gets its name last, when
// every part of it is known to be whole.
func (e *Engine) buildFromDebian(ctx context.Context, report *progress) (err error) {
	dir, err := os.MkdirTemp("", "belljar-image-")
	if err != nil {
		return fmt.Errorf("making a temporary folder: %w", err)
	}
	defer func() {
		removeErr := os.RemoveAll(dir)
		switch {
		case removeErr != nil && err != nil:
			err = fmt.Errorf("%w; a temporary folder stays: sudo rm -rf %s", err, dir)
		case removeErr != nil:
			report.say("a temporary folder stays: sudo rm -rf %s", dir)
		}
	}()
	// In mode "unshare" the user that mmdebstrap becomes has to pass.
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	id, err := e.importFromDebian(ctx, dir, report)
	if err != nil {
		return err
	}
	if err := e.api.ImageTag(ctx, id, images.Tag()); err != nil {
		e.discardImage(ctx, id)
		return fmt.Errorf("naming the image: %s", oneLine(err.Error()))
	}
	return nil
}

// importFromDebian runs mmdebstrap and imports what it writes.
func (e *Engine) importFromDebian(ctx context.Context, dir string, report *progress) (string, error) {
	// The kernel ends mmdebstrap with the thread that started it, also when this
	// process is killed; so the thread must last as long as mmdebstrap.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	output, input, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer output.Close()
	// A process that outlives mmdebstrap and has the pipe must not hold us.
	defer context.AfterFunc(ctx, func() { output.Close() })()

	talk := &mmdebstrapTalk{report: report}
	run, err := mmdebstrapCommand(ctx, dir)
	if err != nil {
		input.Close()
		return "", err
	}
	run.Stdout, run.Stderr = input, talk
	err = run.Start()
	input.Close()
	if err != nil {
		return "", fmt.Errorf("starting mmdebstrap: %w", err)
	}

	// The engine is asked only when there is something to send: until then it
	// could take an idle connection for a dead one.
	rootfs := bufio.NewReaderSize(output, 1<<16)
	var id string
	var importErr error
	if _, err := rootfs.Peek(1); err == nil {
		if id, importErr = e.importImage(ctx, rootfs); importErr != nil {
			cancel() // Nobody reads the pipe any more.
		}
	}
	runErr := run.Wait()
	if ctx.Err() != nil {
		// Whatever did not end when asked. The group's number is still that of
		// our process: a moment ago it had members.
		_ = unix.Kill(-run.Process.Pid, unix.SIGKILL)
	}
	switch {
	case importErr != nil:
		return "", fmt.Errorf("importing the image: %w", importErr)
	case runErr != nil:
		e.discardImage(ctx, id)
		return "", talk.explain(runErr)
	case id == "":
		return "", errors.New("mmdebstrap wrote nothing; run it by hand to see why: mmdebstrap bookworm /dev/null")
	}
	return id, nil
}

// discardImage removes an image that has no name yet. It is called when things
// went wrong, so it must not depend on ctx being alive.
func (e *Engine) discardImage(ctx context.Context, id string) {
	if id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), mmdebstrapGrace)
	defer cancel()
	if _, err := e.api.ImageRemove(ctx, id, image.RemoveOptions{PruneChildren: true}); err != nil {
		e.log.Warn("an unfinished image stays", "id", id, "error", err)
	}
}

// mmdebstrapCommand makes the command with its environment and its own process
// group. For root it is the first process of a pid namespace with mounts of its
// own: killing it ends every process that it started, those in new sessions too,
// and whatever they mounted is gone with them, so removing the folder never
// reaches into a mount. Mode "unshare" does the same by itself, but only
// mmdebstrap can remove what it made as other users, so there it is asked.
func mmdebstrapCommand(ctx context.Context, dir string) (*exec.Cmd, error) {
	attributes := &syscall.SysProcAttr{Setpgid: true}
	mode, signal := "unshare", unix.SIGTERM
	if os.Geteuid() == 0 {
		mode, signal = "root", unix.SIGKILL
		attributes.Cloneflags, attributes.Unshareflags = unix.CLONE_NEWPID, unix.CLONE_NEWNS
	}
	attributes.Pdeathsig = signal
	sources := hostSources(os.DirFS("/"))
	args, err := mmdebstrapArgs(mode, sources != "")
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "mmdebstrap", args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(sources)
	cmd.SysProcAttr = attributes
	// Scripts of packages run in there; they get no secret of the user's. The
	// PATH is the system's: mmdebstrap runs helpers for every package, and one
	// found through a version manager in the home folder costs minutes.
	cmd.Env = []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + dir, "TMPDIR=" + dir,
		"LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive",
	}
	for _, name := range []string{"http_proxy", "https_proxy", "no_proxy", "SOURCE_DATE_EPOCH"} {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, signal) }
	cmd.WaitDelay = mmdebstrapGrace
	return cmd, nil
}

// mmdebstrapTalk turns what mmdebstrap says into progress and keeps the errors.
type mmdebstrapTalk struct {
	report *progress
	rest   []byte   // The start of a line.
	last   []string // The last lines, at most talkLines.
}

// Bounds on what is kept of mmdebstrap's talk: lines, and bytes of one line.
const (
	talkLines    = 20
	talkLineSize = 4096
)

// Write takes a piece of the standard error of mmdebstrap.
func (t *mmdebstrapTalk) Write(data []byte) (int, error) {
	for piece := range bytes.Lines(data) {
		t.rest = append(t.rest, piece[:min(len(piece), max(talkLineSize-len(t.rest), 0))]...)
		if piece[len(piece)-1] == '\n' {
			t.line(oneLine(string(t.rest)))
			t.rest = t.rest[:0]
		}
	}
	return len(data), nil
}

func (t *mmdebstrapTalk) line(line string) {
	if line == "" {
		return
	}
	if len(t.last) == talkLines {
		t.last = slices.Delete(t.last, 0, 1)
	}
	t.last = append(t.last, line)
	// Steps end with dots; the rest is about folders and keys. Hooks quote a
	// whole script.
	step, ok := strings.CutPrefix(line, "I: ")
	if step, dots := strings.CutSuffix(step, "..."); ok && dots && !dullStep(step) {
		t.report.update(step, "")
	}
}

// dullStep tells a step that takes no time or means nothing to a reader.
func dullStep(step string) bool {
	return slices.ContainsFunc([]string{"running --", "finding ", "reading ", "removing ", "cleaning "},
		func(start string) bool { return strings.HasPrefix(step, start) })
}

// explain makes an error of how mmdebstrap ended and its last word on it.
func (t *mmdebstrapTalk) explain(err error) error {
	for _, line := range slices.Backward(t.last) {
		// apt writes "E: ..." as well, and what it says comes before
		// mmdebstrap's own last "E: apt-get ... failed".
		if text, ok := strings.CutPrefix(line, "E: "); ok && !strings.Contains(text, " failed: ") {
			return fmt.Errorf("mmdebstrap (%w): %s", err, text)
		}
	}
	if len(t.last) > 0 {
		return fmt.Errorf("mmdebstrap (%w): %s", err, t.last[len(t.last)-1])
	}
	return fmt.Errorf("mmdebstrap: %w", err)
}

var _ io.Writer = (*mmdebstrapTalk)(nil)
