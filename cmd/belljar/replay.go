package main

import (
	"cmp"
	"context"
	"errors"
	"regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belljar/belljar/agent/replay"
	"github.com/belljar/belljar/agent/trajectory"
)

// replayOptions are the flags of replay.
type replayOptions struct {
	engineFlags
	limitFlags
	networkFlags
	env, pass  []string
	dir        string
	ignore     []string
	pace, keep bool
	json       bool
}

func (o *replayOptions) add(flags *pflag.FlagSet) {
	addText(flags, &o.dir, "directory", "C", "", "folder to run the calls on, which they change (default: a temporary copy of the run's workspace as it is now)")
	flags.BoolVar(&o.keep, "keep", false, "keep the temporary copies and the outputs, and say where they are")
	flags.StringArrayVar(&o.ignore, "ignore", nil, "leave what matches `REGEXP` out of what calls gave before it is compared, such as '[0-9.]+ ?m?s' (may be repeated)")
	flags.BoolVar(&o.pace, "pace", false, "wait between calls as long as the run did, at most "+replay.MaxPause.String()+" each (default: once the run had started a background job)")
	flags.BoolVar(&o.json, "json", false, "print one JSON object for each call, and one that sums up, and no talk")
	o.networkFlags.add(flags)
	flags.StringArrayVar(&o.env, "env", nil, "environment variable K=V for commands (may be repeated)")
	flags.StringArrayVar(&o.pass, "pass-env", nil, "variable K of belljar's own environment to hand on (may be repeated)")
	o.limitFlags.add(flags)
	o.engineFlags.add(flags)
}

// newReplay makes the verb replay.
func newReplay(a *app) *cobra.Command {
	var opts replayOptions
	cmd := &cobra.Command{
		Use:   "replay [flags] ID",
		Short: "Run the recorded calls of a run again and compare",
		Long: `replay runs the tool calls of a recorded run again, without a model, in a fresh
sandbox, and reports where a result is not the recorded one: how it ended, what
it gave, and the files that it read or left. ID is a session as belljar sessions
lists it, or a unique beginning or end of one.

The state that the run began on is not kept. So the calls run on a temporary
copy of the run's workspace as it is now, or on the folder that -C names, which
they change: a checkout of where the run began, or an empty folder.

Image, profile, limits, network, protection and further folders are the recorded
ones, unless a flag says otherwise. Folders that the run could write are copied
too. Values of environment variables are not on record; give them again. Calls
that did not run then, such as denied ones, do not run now. A replay leaves no
record.`,
		Example: `  belljar replay x7k2
  belljar replay -C "$(mktemp -d)" x7k2
  belljar replay --ignore '[0-9.]+s' --json x7k2`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("replay takes one session; belljar sessions lists them")
			}
			return nil
		},
		RunE: verb(func(cmd *cobra.Command, args []string) error {
			begun, err := a.replay(cmd.Context(), &opts, args[0])
			if opts.json && err != nil && !begun {
				return errors.Join(err, writeErrorJSON(a.out(), err))
			}
			return err
		}),
	}
	opts.add(cmd.Flags())
	return cmd
}

// patterns reads --ignore.
func (o *replayOptions) patterns() ([]*regexp.Regexp, error) {
	var list []*regexp.Regexp
	for _, text := range o.ignore {
		pattern, err := regexp.Compile(text)
		if err != nil {
			return nil, usagef("--ignore %q: %w", text, err)
		}
		if pattern.String() == "" {
			return nil, usagef("--ignore is empty; give a regular expression")
		}
		list = append(list, pattern)
	}
	return list, nil
}

// replay replays one session. begun tells whether calls were run.
func (a *app) replay(ctx context.Context, opts *replayOptions, name string) (begun bool, err error) {
	patterns, err := opts.patterns()
	if err != nil {
		return false, err
	}
	session, err := a.recordedSession(name)
	if err != nil {
		return false, err
	}
	defer session.Close()
	manifest, err := session.Manifest()
	if err != nil {
		return false, err
	}
	events, err := session.Events()
	if err != nil {
		return false, err
	}
	defer events.Close()
	r := &replayJob{app: a, opts: opts, recorded: session, manifest: manifest}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.open(ctx); err != nil {
		return false, err
	}
	sum, err := r.run(ctx, trajectory.NewReader(events), patterns)
	// The sandbox goes before the sum is told, so that whoever reads it finds
	// nothing left.
	if err := errors.Join(err, r.finish()); err != nil {
		return true, err
	}
	if err := r.report(sum); err != nil {
		return true, err
	}
	if sum.Differs > 0 {
		return true, &outcome{exitNo}
	}
	return true, nil
}

// recordedSession opens a session for reading. One that is not there is a wrong
// word on the command line: 1 is an answer of replay, and no code of run.
func (a *app) recordedSession(name string) (*trajectory.Session, error) {
	dir, err := trajectory.StateDir()
	if err != nil {
		return nil, err
	}
	session, err := trajectory.Open(dir, name)
	if errors.Is(err, trajectory.ErrNoSession) {
		return nil, refused(err)
	}
	return session, err
}

// imageRef is the image to replay in.
func (o *replayOptions) imageRef(m trajectory.Manifest) string {
	return cmp.Or(o.image, m.Image.Ref)
}
