package main

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/ui"
	"github.com/belljar/belljar/sandbox"
)

// execOptions are the flags of exec.
type execOptions struct {
	sandboxFlags
	script      string
	interactive bool
	json        bool
	timeout     time.Duration
	maxOutput   int64
}

// newExec makes the verb exec.
func newExec(a *app) *cobra.Command {
	var opts execOptions
	cmd := &cobra.Command{
		Use:   "exec [flags] -- CMD [ARG...]",
		Short: "Run one command in a sandbox over a folder",
		Long: `exec runs one command in a fresh sandbox over a folder and removes the sandbox.
The command is an argument list after --, or a script for the sandbox's shell
by -c. Its output comes through as it is, stdout and stderr apart. Its stdin is
empty and closed unless -i passes belljar's on.

With --json stdout holds one object with the status, the exit code, the output
(1 MiB a stream, its beginning and end), what the sandbox was made from, which
limits were read back ("readings"), what is weaker than strict ("loosened"),
what could not be changed ("protected"), which files that programs on the host
obey changed ("host_risks"), and what was decided about the network.
docs/exec.md describes each field. Where belljar itself fails, the object holds
"error" and nothing else.`,
		Example: `  belljar exec -- python3 -m unittest
  belljar exec --timeout 30s -c 'make && ./run | tail -5'
  echo hello | belljar exec -i -- tr a-z A-Z`,
		RunE: verb(func(cmd *cobra.Command, args []string) error {
			err := a.exec(cmd.Context(), &opts, cmd.Flags().Changed("command"), args)
			var done *outcome
			if opts.json && err != nil && !errors.As(err, &done) {
				return errors.Join(err, writeErrorJSON(a.out(), err))
			}
			return err
		}),
	}
	flags := cmd.Flags()
	flags.StringVarP(&opts.script, "command", "c", "", "script for the sandbox's shell, instead of CMD")
	flags.BoolVarP(&opts.interactive, "interactive", "i", false, "pass belljar's stdin to the command")
	flags.Var(durationValue{&opts.timeout}, "timeout", "end the command after this time: 2s, 1m30s (default none)")
	flags.Var(sizeValue{&opts.maxOutput, 1}, "max-output", "end the command after this much output: 64m (default none)")
	flags.BoolVar(&opts.json, "json", false, "print one JSON object instead of the command's output")
	opts.add(flags)
	// What follows CMD belongs to CMD, also when it looks like a flag.
	flags.SetInterspersed(false)
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		err = execFlagError(err)
		if asksForJSON(a.args) {
			return errors.Join(err, writeErrorJSON(a.out(), err))
		}
		return err
	})
	return cmd
}

// execFlagError words what is wrong with the flags of exec.
func execFlagError(err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && (unknown.GetSpecifiedName() == "t" || unknown.GetSpecifiedName() == "tty") {
		err = errors.New("there is no terminal inside yet, so there is no -t; -i passes stdin on")
	}
	return &usageError{err: err}
}

// asksForJSON tells whether the arguments of the program ask for JSON, where
// its flags cannot be parsed. What follows -- belongs to the command.
func asksForJSON(args []string) bool {
	for _, arg := range args {
		name, value, given := strings.Cut(arg, "=")
		switch on, err := strconv.ParseBool(value); {
		case arg == "--":
			return false
		case name == "--json" && (!given || on || err != nil):
			return true
		}
	}
	return false
}

// command checks what is to be run.
func (o *execOptions) command(isScript bool, args []string) (sandbox.Command, error) {
	cmd := sandbox.Command{Timeout: o.timeout, OutputLimit: o.maxOutput}
	switch {
	case isScript && len(args) > 0:
		return cmd, usagef("-c gives a script and %q a command; give one of them", args[0])
	case isScript:
		cmd.Script = o.script
	case len(args) == 0:
		return cmd, usagef("there is nothing to run; give a command after --, or a script with -c")
	default:
		cmd.Args = args
	}
	if err := cmd.Check(); err != nil {
		return cmd, &usageError{err: err}
	}
	return cmd, nil
}

// exec runs one command and says how it ended.
func (a *app) exec(ctx context.Context, opts *execOptions, isScript bool, args []string) (err error) {
	cmd, err := opts.command(isScript, args)
	if err != nil {
		return err
	}
	var asked asker
	screen := &plainScreen{out: a.stderr, plain: !ui.Detect(a.stderr, a.getenv).Live}
	if !opts.json && !opts.interactive {
		asked = a.prompter(screen.show).hosts()
	}
	log := &networkLog{}
	out, err := a.openGate(&opts.networkFlags, log, asked)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	spec, err := a.place(&opts.sandboxFlags)
	if err != nil {
		return err
	}
	if dir, err := trajectory.StateDir(); err == nil { // who has none has no records
		if err := keepRecordsOut(dir, spec.Mounts); err != nil {
			return err
		}
	}
	out.fill(&spec)
	a.leadOut(out, &spec)
	// With stdin passed on a second spare is needed to end the command.
	spec.Once = !opts.interactive
	j, err := a.open(ctx, &opts.sandboxFlags, spec, a.stderr)
	if err != nil {
		return err
	}
	a.last.set(func() { a.notice("%s", abandonedText) })
	defer a.last.set(nil)
	var report *execReport
	cmd.Stdout, cmd.Stderr = a.streams()
	if asked != nil {
		cmd.Stdout, cmd.Stderr = screen.wrap(cmd.Stdout, cmd.Stderr)
	}
	if opts.json {
		report = newExecReport(j, out, log)
		cmd.Stdout, cmd.Stderr = report.stdout, report.stderr
	}
	if opts.interactive {
		cmd.Stdin = a.stdin
	}
	result, err := j.Exec(ctx, cmd)
	// The sandbox goes before anything is said, so that whoever reads the
	// answer finds nothing left. With the gate goes a question that stands.
	err = errors.Join(err, j.Close(), out.Close(), screen.failure())
	risks, alive, riskErr := j.risks()
	for _, line := range (riskTeller{folder: spec.Workspace, save: commandKeeper(spec).keep, alive: alive}).lines(risks) {
		a.noticeWhole(line)
	}
	if err := errors.Join(err, riskErr); err != nil {
		return err
	}
	for _, line := range log.lines() {
		a.notice("%s", line)
	}
	if report != nil {
		report.risks = risks
	}
	return a.reportCommand(ctx, cmd, report, j, result)
}

// reportCommand says how a command ended and gives the exit code.
func (a *app) reportCommand(ctx context.Context, cmd sandbox.Command, report *execReport, j *jar, result sandbox.Result) error {
	cause, limits := causeOf(ctx), j.Info().Limits
	if line := commandLine(result, limits, cmd, cause); line != "" {
		a.notice("%s", line)
	}
	for _, note := range sideNotes(result, limits) {
		a.notice("%s", note)
	}
	if hint := shellHint(result, cmd.Args); hint != "" {
		a.noticeWhole(hint)
	}
	if report != nil {
		if err := report.write(a.out(), result); err != nil {
			return err
		}
	}
	if code := commandCode(result, cause); code != exitOK {
		return &outcome{code}
	}
	return nil
}
