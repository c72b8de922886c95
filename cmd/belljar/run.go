package main

import (
	"cmp"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/belljar/belljar/tools"
)

// runOptions are the flags of run.
type runOptions struct {
	sandboxFlags
	modelFlags
	file                 string
	maxTurns, maxTokens  float64
	maxRequests, maxCost float64
	prices               string
	maxTime, maxWait     time.Duration
	timeout, maxTimeout  time.Duration
	onLost               string
	config               string
	listTools            bool
	approvalFlags
	quiet, json bool
}

// newRun makes the verb run.
func newRun(a *app) *cobra.Command {
	var opts runOptions
	cmd := &cobra.Command{
		Use:   `run [flags] "TASK" | -f FILE`,
		Short: "Run the agent on a folder",
		Long: `run gives a task to a model, which works on the folder with tools: it reads and
edits files, and runs commands in a sandbox over the folder. What happens is
shown on stderr while it happens and recorded in a session. The model's final
answer is the only thing on stdout; on a terminal, where it has been seen as it
came, it is not printed a second time.

The model is that of any server that speaks the OpenAI chat protocol. Its key
never reaches the sandbox or the record. script:FILE is no model but a file of
fixed answers, each a text and the calls of tools that it asks for:

  turns:
    - text: I look around.
      tool_calls:
        - {name: bash, arguments: {command: ls}}
    - text: There is nothing here.

replay:ID is no model either, but the answers of a recorded run, in order.

Tools of your own are in config.json in your configuration folder, a name, a
description, a JSON Schema and a command each, which runs in the sandbox. They
are shown at the start of each run, and by --list-tools. A config is never taken
from the workspace.

With --json stdout holds the events of the record. Where belljar fails before
there is one, it holds one object with "error" and nothing else.`,
		Example: `  belljar run -w "$(mktemp -d)" --model script:demo "Count words"
  OPENAI_API_KEY=... belljar run --model NAME "Make the tests pass"
  belljar run --model NAME --base-url http://localhost:11434/v1 -f task.md`,
		RunE: verb(func(cmd *cobra.Command, args []string) error {
			if opts.listTools {
				err := a.listTools(&opts, args)
				if opts.json && err != nil {
					err = errors.Join(err, writeErrorJSON(a.out(), err))
				}
				return err
			}
			begun, err := a.runTask(cmd.Context(), &opts, args)
			if opts.json && err != nil && !begun {
				return errors.Join(err, writeErrorJSON(a.out(), err))
			}
			return err
		}),
	}
	flags := cmd.Flags()
	addText(flags, &opts.file, "file", "f", "", "file with the task; - is stdin")
	opts.modelFlags.add(flags)
	flags.Var(numberValue{number: &opts.maxTurns, whole: true, least: 1}, "max-turns", "stop after this many answers of the model, those of sub-agents not included, which together may give as many again (default 50)")
	flags.Var(durationValue{&opts.maxTime}, "max-time", "stop after this time: 30m (default none)")
	flags.Var(durationValue{&opts.maxWait}, "max-wait", "wait this long in all, for one answer, for a model's server that is down or asks to be left alone: 1h (default eight tries, and 2m where it asks)")
	flags.Var(numberValue{number: &opts.maxTokens, whole: true, least: 1}, "max-tokens", "stop after this many tokens, in and out together (default none)")
	flags.Var(numberValue{number: &opts.maxRequests, whole: true, least: 1}, "max-requests", "stop after this many requests to the model, those that fail included (default none)")
	flags.Var(numberValue{number: &opts.maxCost, least: 0.0001}, "max-cost", "stop after this cost in US dollars: 0.50 (default none)")
	addText(flags, &opts.prices, "prices", "", "", "list of prices that goes before belljar's own (default $BELLJAR_PRICES)")
	addConfig(flags, &opts.config)
	flags.BoolVar(&opts.listTools, "list-tools", false, "print your own tools, with --json as they are written, and run nothing")
	flags.Var(durationValue{&opts.timeout}, "timeout", "end a command of the model after this time, where it names none (default "+tools.DefaultTimeout.String()+")")
	flags.Var(durationValue{&opts.maxTimeout}, "max-timeout", "the longest time the model may give a command (default "+tools.DefaultMaxTimeout.String()+")")
	addText(flags, &opts.onLost, "on-lost", "", onLostRecreate, "what to do when the sandbox is lost, such as by a restart of the engine: recreate it over the same workspace and tell the model, or stop")
	opts.approvalFlags.add(flags)
	flags.BoolVarP(&opts.quiet, "quiet", "q", false, "show nothing but the final answer, or why there is none")
	flags.BoolVar(&opts.json, "json", false, "print the events of the record on stdout, one JSON object a line, and no talk")
	opts.sandboxFlags.add(flags)
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		err = &usageError{err: err}
		if asksForJSON(a.args) {
			return errors.Join(err, writeErrorJSON(a.out(), err))
		}
		return err
	})
	return cmd
}

// checkTimeouts refuses timeouts that contradict each other.
func (o *runOptions) checkTimeouts() error { return checkTimeouts(o.timeout, o.maxTimeout) }

// checkTimeouts refuses a usual timeout that is more than the longest; 0 is the
// default.
func checkTimeouts(usual, longest time.Duration) error {
	longest = cmp.Or(longest, tools.DefaultMaxTimeout)
	if usual > longest {
		return usagef("--timeout %s is more than --max-timeout allows (%s); raise --max-timeout too", usual, longest)
	}
	return nil
}
