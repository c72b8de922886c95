package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/sandbox"
)

// Bounds of the bash tool.
const (
	// DefaultTimeout ends a command that names no timeout.
	DefaultTimeout = 120 * time.Second
	// DefaultMaxTimeout is the largest timeout a command may name.
	DefaultMaxTimeout = 600 * time.Second
	// ShownOutput is how much of a command's output the model sees, in
	// characters.
	ShownOutput = 30_000
	// KeptOutput is how much of it is streamed for keeping, in bytes.
	KeptOutput = 16 * sandbox.MiB
	// MaxOutput is the output after which a command is ended, in bytes.
	MaxOutput = 256 * sandbox.MiB
)

// BashOptions are the settings of a bash tool. The zero value is the default.
type BashOptions struct {
	// Timeout ends a command that names none; 0 is DefaultTimeout, or
	// MaxTimeout where that is less.
	Timeout time.Duration
	// MaxTimeout is the largest timeout that a command may name; 0 is
	// DefaultMaxTimeout, or Timeout where that is more.
	MaxTimeout time.Duration
	// Jobs takes the commands that are to run in the background; without it
	// none can.
	Jobs *Jobs
	// Mask takes what is secret out of what Assess tells; nil is nothing.
	Mask func(string) string
	// Guarded has the model told that slips are not run. The tool itself only
	// tells of them; see Assess.
	Guarded bool
}

// fill sets the defaults. A limit that was asked for moves a default, never
// the reverse.
func (o BashOptions) fill() (BashOptions, error) {
	if o.Timeout < 0 || o.MaxTimeout < 0 {
		return o, errors.New("bash tool: a timeout is negative")
	}
	switch {
	case o.Timeout == 0 && o.MaxTimeout == 0:
		o.Timeout, o.MaxTimeout = DefaultTimeout, DefaultMaxTimeout
	case o.Timeout == 0:
		o.Timeout = min(DefaultTimeout, o.MaxTimeout)
	case o.MaxTimeout == 0:
		o.MaxTimeout = max(DefaultMaxTimeout, o.Timeout)
	case o.Timeout > o.MaxTimeout:
		return o, fmt.Errorf("bash tool: the timeout %s is more than the largest, %s", o.Timeout, o.MaxTimeout)
	}
	return o, nil
}

// bash runs commands in a sandbox. It keeps the working directory of one agent
// from command to command, so its calls run one after another.
type bash struct {
	sandbox sandbox.Sandbox
	opts    BashOptions
	def     Definition
	// turn holds the tool's position. Whoever has taken it runs a command and puts
	// the next one back; its capacity is one. A mutex would not let a canceled
	// call stop waiting.
	turn chan position
}

// A position is where the next command runs.
type position struct {
	dir string
	box string // the id of the sandbox that the model knows to stand
}

var _ Streamer = (*bash)(nil)

// NewBash makes the bash tool of one agent over a sandbox, which the caller
// closes. The result tells how each command ended; it is an error to the model
// unless the command's shell ended by itself, whatever its exit code: that a
// test failed is an answer and no fault of the call.
func NewBash(sb sandbox.Sandbox, opts BashOptions) (Streamer, error) {
	opts, err := opts.fill()
	if err != nil {
		return nil, err
	}
	b := &bash{sandbox: sb, opts: opts, turn: make(chan position, 1)}
	info := sb.Info()
	dir := info.MountPoint
	if dir == "" {
		dir = sandbox.MountPoint
	}
	b.turn <- position{dir, info.ID}
	b.def = opts.definition(dir, info.Protected.ReadOnly)
	return b, nil
}

// definition describes a tool whose first command runs in dir, and cannot
// change the protected paths.
func (o BashOptions) definition(dir string, protected []string) Definition {
	fields := []field{
		{"command", "string", "The script to run."},
		{"timeout_seconds", "number", fmt.Sprintf("Seconds after which the command and all its processes are ended; fractions are allowed. Default %s, at most %s.",
			seconds(o.Timeout), seconds(o.MaxTimeout))},
	}
	if o.Jobs != nil {
		fields = append(fields, field{"background", "boolean",
			"Start the command as a background job and return at once. It then has no timeout unless timeout_seconds gives one, of any length."})
	}
	return Definition{
		Name: "bash",
		Description: describe("bash", map[string]any{
			"Dir": dir, "Timeout": seconds(o.Timeout), "MaxTimeout": seconds(o.MaxTimeout),
			"Shown": output.Count(ShownOutput, "character"), "Max": output.Size(MaxOutput),
			"Jobs": o.Jobs != nil, "MaxJobs": MaxJobs, "Guarded": o.Guarded,
			"Protected": list(protected),
		}),
		Schema: object(1, fields...),
		Effect: Execute,
	}
}

func (b *bash) Definition() Definition { return b.def }

func (b *bash) Execute(ctx context.Context, args json.RawMessage) (Result, error) {
	return b.ExecuteTo(ctx, args, nil)
}

func (b *bash) ExecuteTo(ctx context.Context, args json.RawMessage, out io.Writer) (Result, error) {
	var in bashArguments
	if err := decode(args, &in); err != nil {
		return Error(err.Error()), nil
	}
	if strings.TrimSpace(in.Command) == "" {
		return Error("command is empty: give the script to run"), nil
	}
	timeout, clamped, err := b.timeout(in)
	if err != nil {
		return Error(err.Error()), nil
	}
	var here position
	select {
	case here = <-b.turn:
	case <-ctx.Done():
		return Result{Parts: Text("[canceled before it ran]").Parts, IsError: true, Status: string(sandbox.Canceled)}, nil
	}
	dir, next := here.dir, here
	defer func() { b.turn <- next }()
	if in.Background {
		return b.background(ctx, sandbox.Command{Script: in.Command, Dir: dir, Timeout: timeout}), nil
	}

	capture := output.NewCapture(ShownOutput)
	var w io.Writer = capture
	limited := output.NewLimited(out, KeptOutput)
	if out != nil {
		w = io.MultiWriter(capture, limited)
	}
	res, err := b.sandbox.Exec(ctx, sandbox.Command{
		Script: in.Command, Dir: dir, Stdout: w, Stderr: w, Timeout: timeout, OutputLimit: MaxOutput,
	})
	var renewed *sandbox.RenewedError
	switch {
	case errors.Is(err, sandbox.ErrInvalidCommand):
		return Error(err.Error()), nil
	case errors.As(err, &renewed):
		next.box = b.sandbox.Info().ID
		return Result{Parts: Text(lostText(capture.String())).Parts, IsError: true, Status: statusLost}, nil
	case err != nil:
		return Result{}, fmt.Errorf("running a command in the sandbox: %w", err)
	}
	if res.Dir != "" {
		next.dir = res.Dir
	}
	info := b.sandbox.Info()
	next.box = info.ID
	r := report{result: res, limits: info.Limits, timeout: timeout, clamped: clamped, from: dir, next: next.dir, renewed: next.box != here.box}
	shown, lines := capture.Text(), r.lines()
	if keeper, ok := out.(Keeper); ok && shown.DroppedBytes > 0 {
		if err := keeper.Close(); err != nil {
			return Result{}, err
		}
		lines = append(lines, keeper.Kept().lines(limited.Dropped > 0)...)
	}
	lines = append(lines, b.opts.Jobs.news()...)
	answer := bracketed(fixed(shown.Text), lines)
	answer.IsError, answer.Status, answer.ExitCode = res.Status != sandbox.Exited, string(res.Status), res.ExitCode
	return answer, nil
}

// background starts a command as a job and tells how to reach it.
func (b *bash) background(ctx context.Context, cmd sandbox.Command) Result {
	started, err := b.opts.Jobs.start(ctx, cmd)
	if err != nil {
		return Error(err.Error())
	}
	runs := notef("%s runs in the background; bash_output shows its output, bash_kill ends it", passing(started.id))
	res := bracketed(notef("started %s", started.name()), append([]note{runs}, b.opts.Jobs.news()...))
	res.Status = StatusRunning
	return res
}

// bashArguments are the arguments of a call.
type bashArguments struct {
	Command    string   `json:"command"`
	Timeout    *float64 `json:"timeout_seconds"`
	Background bool     `json:"background"`
}

// timeout reads the parameter, and tells whether it was more than the largest.
func (b *bash) timeout(in bashArguments) (timeout time.Duration, clamped bool, err error) {
	largest := b.opts.MaxTimeout
	switch {
	case in.Timeout == nil && in.Background:
		return 0, false, nil
	case in.Timeout == nil:
		return b.opts.Timeout, false, nil
	case *in.Timeout <= 0 && in.Background:
		return 0, false, errors.New("timeout_seconds must be more than 0; leave it out and the job has no timeout")
	case *in.Timeout <= 0:
		return 0, false, fmt.Errorf("timeout_seconds must be more than 0; leave it out for the default of %s", seconds(b.opts.Timeout))
	case in.Background:
		largest = maxJobTime
	}
	// Compared as seconds: what is far too large does not fit a Duration.
	if *in.Timeout > largest.Seconds() {
		return largest, !in.Background, nil
	}
	// What is too small for a Duration must not become 0, which is none.
	return max(time.Duration(*in.Timeout*float64(time.Second)), time.Millisecond), false, nil
}

// seconds shows a duration as a number of seconds.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// list joins names for a sentence.
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
