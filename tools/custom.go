package tools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/sandbox"
)

// shownErrors is how much of what a custom tool writes to stderr the model sees
// when it fails, in characters.
const shownErrors = 4_000

// A Custom is a tool that a user made without code: a command that runs in the
// sandbox and gets the arguments of a call as JSON on its stdin. ParseCustom
// reads them from a config.
type Custom struct {
	Name, Description string
	// Parameters is the schema of the arguments, an object.
	Parameters *jsonschema.Schema
	// Script is for the sandbox's shell, Args run without one; exactly one of
	// them is set.
	Script string
	Args   []string
	// Effect is what the user says that a call may do. Nothing holds it to that.
	Effect Effect
	// Timeout ends a call; 0 is that of CustomOptions.
	Timeout time.Duration
	// Rich: stdout is an answer in JSON, with texts, images or a structured
	// result, instead of a text.
	Rich bool
	// Source is the definition as it was written, for a record.
	Source json.RawMessage
}

// CustomOptions are the settings of all custom tools. The zero value is the
// default.
type CustomOptions struct {
	// Timeout ends a call of a tool that has none of its own; 0 is
	// DefaultTimeout.
	Timeout time.Duration
}

// custom runs a Custom. It has no state, so calls may run side by side.
type custom struct {
	Custom
	sandbox sandbox.Sandbox
	dir     string
	def     Definition
}

var _ Streamer = (*custom)(nil)

// NewCustom makes a custom tool over a sandbox, which the caller closes. Each
// call starts in the workspace's folder. It has failed unless the command ended
// by itself with exit code 0 and, where it is rich, its answer is sound and says
// no more than that. What it keeps is its text.
func NewCustom(sb sandbox.Sandbox, c Custom, opts CustomOptions) (Streamer, error) {
	if (c.Script == "") == (len(c.Args) == 0) {
		return nil, fmt.Errorf("custom tool %q: exactly one of Script and Args is needed", c.Name)
	}
	if c.Timeout < 0 || opts.Timeout < 0 {
		return nil, fmt.Errorf("custom tool %q: a timeout is negative", c.Name)
	}
	c.Timeout = cmp.Or(c.Timeout, opts.Timeout, DefaultTimeout)
	t := &custom{Custom: c, sandbox: sb, dir: cmp.Or(sb.Info().MountPoint, sandbox.MountPoint)}
	t.def = Definition{
		Name: c.Name,
		Description: describe("custom", map[string]string{
			"Description": c.Description, "Dir": t.dir, "Timeout": seconds(c.Timeout), "Shown": output.Count(ShownOutput, "character"),
		}),
		Schema: c.Parameters,
		Effect: c.Effect,
	}
	return t, nil
}

func (t *custom) Definition() Definition { return t.def }

func (t *custom) Execute(ctx context.Context, args json.RawMessage) (Result, error) {
	return t.ExecuteTo(ctx, args, nil)
}

func (t *custom) ExecuteTo(ctx context.Context, args json.RawMessage, out io.Writer) (Result, error) {
	keep := &keeping{out: out, limited: output.NewLimited(out, KeptOutput)}
	wrote := &customOutput{text: output.NewCapture(ShownOutput), errors: output.NewCapture(shownErrors)}
	var w io.Writer = wrote.text
	switch {
	case t.Rich: // what is kept is the text in the answer
		wrote.text = output.NewCapture(shownErrors)
		w = io.MultiWriter(wrote.text, &wrote.answer)
	case out != nil:
		w = io.MultiWriter(wrote.text, keep.limited)
	}
	res, err := t.sandbox.Exec(ctx, sandbox.Command{
		Script: t.Script, Args: t.Args, Dir: t.dir, Stdin: bytes.NewReader(args),
		Stdout: w, Stderr: wrote.errors, Timeout: t.Timeout, OutputLimit: MaxOutput,
	})
	var renewed *sandbox.RenewedError
	switch {
	case errors.Is(err, sandbox.ErrInvalidCommand):
		return Error(err.Error()), nil
	case errors.As(err, &renewed):
		return Result{Parts: Text(lostText(wrote.text.String())).Parts, IsError: true, Status: statusLost}, nil
	case err != nil:
		return Result{}, fmt.Errorf("running the tool %s in the sandbox: %w", t.Name, err)
	}
	answer, err := t.result(res, wrote, keep)
	if err != nil {
		return Result{}, err
	}
	answer.Status, answer.ExitCode = string(res.Status), res.ExitCode
	return answer, nil
}

// customOutput is what a command wrote. Its answer is what stdout holds as a
// whole, where that is an answer.
type customOutput struct {
	text, errors *output.Capture
	answer       answerBuffer
}

// result words what a command wrote and how it ended.
func (t *custom) result(res sandbox.Result, wrote *customOutput, keep *keeping) (Result, error) {
	r := report{result: res, limits: t.sandbox.Info().Limits, timeout: t.Timeout, from: t.dir, next: t.dir}
	good := res.Status == sandbox.Exited && res.ExitCode != nil && *res.ExitCode == 0
	notes := r.notices()
	if !good {
		notes = r.lines()
	}
	if t.Rich {
		answer, problem := wrote.answer.parse()
		if problem == nil {
			return rich(answer, good, wrote, keep, notes)
		}
		// What it wrote instead is what its author has to see.
		keep.write(wrote.answer.held.Bytes())
		if good {
			good, notes = false, append([]note{notef("its answer cannot be used: %s", problem), fixed(answerHint)}, notes...)
		}
	}
	shown := wrote.text.Text()
	kept, err := keep.lines(shown.DroppedBytes > 0)
	if err != nil {
		return Result{}, err
	}
	answer := customText(shown.Text, wrote.errorText(good), append(notes, kept...))
	answer.IsError = !good
	return answer, nil
}

// errorText is what stderr held, of a call that failed. Of others it is for
// whoever writes the tool.
func (o *customOutput) errorText(good bool) string {
	if good {
		return ""
	}
	return o.errors.String()
}

// onStderr stands before what stderr held, after something else.
const onStderr = "[on stderr:]\n"

// customText is a result of a text, what stderr held, and notes. With neither it is
// the text alone.
func customText(text, stderr string, notes []note) Result {
	if text != "" && stderr != "" {
		text = lineEnd(text) + onStderr
	}
	text += stderr
	if len(notes) > 0 {
		return bracketed(fixed(text), notes)
	}
	return Text(cmp.Or(text, "(no output)"))
}

// lineEnd is a text that ends with a line.
func lineEnd(text string) string {
	if text != "" && text[len(text)-1] != '\n' {
		text += "\n"
	}
	return text
}

// keeping is the place for a call's text; out may be nil.
type keeping struct {
	out     io.Writer
	limited *output.Limited
	failed  error
}

// write keeps a piece of text.
func (k *keeping) write(p []byte) {
	if k.out != nil && k.failed == nil {
		_, k.failed = k.limited.Write(p)
	}
}

// lines name the place, where a result shows less than all.
func (k *keeping) lines(cut bool) ([]note, error) {
	keeper, ok := k.out.(Keeper)
	if k.failed != nil || !ok || !cut {
		return nil, k.failed
	}
	if err := keeper.Close(); err != nil {
		return nil, err
	}
	return keeper.Kept().lines(k.limited.Dropped > 0), nil
}
