package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belljar/belljar/internal/ui"
)

// The exit codes that mean something of their own.
const (
	exitOK          = 0
	exitNo          = 1 // the answer is no
	exitUsage       = 2
	exitLimit       = 3 // a limit of the run was reached
	exitStuck       = 4
	exitRefused     = 5
	exitModel       = 6
	exitOverLimit   = 123 // output, disk or process limit of a command
	exitTimeout     = 124
	exitFailure     = 125 // belljar or the engine
	exitSignalBase  = 128
	exitInterrupted = exitSignalBase + 2
	exitOutOfMemory = exitSignalBase + 9
	exitBrokenPipe  = exitSignalBase + 13
	exitTerminated  = exitSignalBase + 15
)

// A usageError is a command line that cannot be run as it stands. Hints are
// further lines that say what can be done.
type usageError struct {
	err   error
	hints []string
	// told: the error says what to do, and the help knows nothing more of it.
	told bool
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// usagef makes a usageError.
func usagef(format string, args ...any) error { return &usageError{err: fmt.Errorf(format, args...)} }

// refused makes a usageError of what is wrong with something that the command
// line names well, such as a folder.
func refused(err error) error { return &usageError{err: err, told: true} }

// refusedf makes the same of words.
func refusedf(format string, args ...any) error { return refused(fmt.Errorf(format, args...)) }

// An outcome ends a verb that did its work with an exit code other than 0.
// Whatever had to be said has been said.
type outcome struct{ code int }

func (o *outcome) Error() string { return fmt.Sprintf("exit code %d", o.code) }

// A failure is what a verb could not do.
type failure struct{ err error }

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// verb makes a cobra run function of a verb. What the verb returns is told
// apart from what cobra itself finds wrong with a command line.
func verb(run func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		var usage *usageError
		var done *outcome
		if err == nil || errors.As(err, &usage) || errors.As(err, &done) {
			return err
		}
		return &failure{err}
	}
}

// exitCode maps how a verb ended to the program's exit code. This is the only
// place where that is decided.
func exitCode(ctx context.Context, name string, err error) int {
	var done *outcome
	var failed *failure
	var no *noError
	var sig *signalError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &done):
		return done.code
	case errors.As(context.Cause(ctx), &sig):
		return sig.code()
	case errors.Is(err, errReaderGone):
		return exitBrokenPipe
	case errors.As(err, &no):
		return exitNo
	case errors.As(err, &failed):
		return exitFailure
	case name == "exec":
		return exitFailure // codes below 123 are the command's own
	default:
		return exitUsage
	}
}

// A noError is a failure that is an answer: what was asked for is not there.
type noError struct{ err error }

func (e *noError) Error() string { return e.err.Error() }
func (e *noError) Unwrap() error { return e.err }

// finish says what went wrong and returns the exit code.
func (a *app) finish(ctx context.Context, cmd *cobra.Command, err error) int {
	code := exitCode(ctx, cmd.Name(), err)
	var done *outcome
	var failed *failure
	switch {
	case err == nil, errors.As(err, &done), code == exitBrokenPipe:
	case errors.As(err, &failed):
		if sig := new(signalError); errors.As(context.Cause(ctx), &sig) && isInterruption(err) {
			err = sig
		}
		a.notice("%s", err)
	default:
		usage, text := new(usageError), strings.TrimSuffix(ui.Line(err.Error()), ".")
		if !errors.As(err, &usage) || !usage.told {
			text += " (see " + cmd.CommandPath() + " --help)"
		}
		a.notice("%s", text)
		for _, hint := range usage.hints {
			fmt.Fprintln(a.stderr, "  "+ui.Sanitize(hint))
		}
	}
	return code
}

// isInterruption tells what a signal alone explains: who interrupts belljar may
// have interrupted the reader of its output, too.
func isInterruption(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, errReaderGone)
}

// exits are the exit codes that each verb explains in its help.
func exits(name string) string {
	switch name {
	case "exec":
		return `  the command's own code, when it ended by itself
  128+n  the command was ended by signal n that nobody here sent
  123    it went over a limit on output, disk or processes
  124    it went over --timeout
  125    belljar or the engine failed, or wrong usage
  130    interrupted by INT; 143 by TERM or HUP
  137    it ran out of memory
  141    the reader of the output went away`
	case "run":
		return `  0      the model finished
  2      wrong usage
  3      a limit was reached (turns, time, requests, tokens, cost), or the
         conversation is too long for the model
  4      stuck: the same calls with the same results, or nothing but
         failures, or answers cut at the output limit, or calls that the
         model's server could not read, again and again
  5      the model refused, or its answer was filtered
  6      the model could not be reached or answered wrongly
  125    belljar, the engine or the sandbox failed
  130    interrupted by INT; 143 by TERM or HUP
  141    the reader of the output went away`
	case "doctor":
		return `  0      every check passed
  1      a check failed
  2      wrong usage
  125    belljar failed
  130    interrupted by INT; 143 by TERM or HUP`
	case "mcp":
		return `  0      the client has gone
  2      wrong usage
  125    belljar failed
  130    interrupted by INT; 143 by TERM or HUP
  141    the client no longer reads`
	case "replay":
		return `  0      every call that was run gave what is on record
  1      a call gave something else
  2      wrong usage, or there is no such session
  125    belljar, the engine or the sandbox failed
  130    interrupted by INT; 143 by TERM or HUP
  141    the reader of the output went away`
	case "show", "rm":
		return `  0      done
  1      there is no such thing
  2      wrong usage
  125    belljar or the engine failed`
	default:
		return `  0      done
  2      wrong usage
  125    belljar or the engine failed`
	}
}

// describeExits adds to every verb's help what its exit codes mean.
func describeExits(cmd *cobra.Command) {
	if cmd.Long == "" {
		cmd.Long = cmd.Short
	}
	cmd.Long = strings.TrimRight(cmd.Long, "\n") + "\n\nExit codes:\n" + exits(cmd.Name())
	for _, child := range cmd.Commands() {
		describeExits(child)
	}
}
