package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/belljar/belljar/internal/ui"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/docker"
)

// An engine is what the verbs need of a container engine.
type engine interface {
	sandbox.Runtime
	Description() string
	Endpoint() docker.Endpoint
	DataRoot() string
	Image(ctx context.Context, ref string) (sandbox.Image, bool, error)
	EnsureImage(ctx context.Context, ref string, progress io.Writer) (sandbox.Image, error)
	BuildDefault(ctx context.Context, progress io.Writer) (sandbox.Image, error)
	ListImages(ctx context.Context) ([]docker.LocalImage, error)
	RemoveImage(ctx context.Context, ref string) error
	Sweep(ctx context.Context) (int, error)
	List(ctx context.Context) ([]docker.Listed, error)
	Collect(ctx context.Context, dry bool) ([]docker.Leftover, error)
	Close() error
}

// An app is everything that the verbs take from outside, so that tests can
// give them something else.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	lookupEnv      func(string) (string, bool)
	exit           func(code int) // ends the process at once
	build          build
	called         string   // the path or name that the program was started by
	args           []string // the program's arguments, as they came
	last           *lastAct // when a second interrupt ends the process
	connect        func(ctx context.Context, opts docker.Options) (engine, error)
}

// newApp makes an app of this process.
func newApp(connect func(context.Context, docker.Options) (engine, error)) *app {
	starts := docker.NewStarts()
	return &app{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		lookupEnv: os.LookupEnv,
		exit:      os.Exit,
		last:      &lastAct{},
		called:    os.Args[0],
		build:     readBuild(version, commit),
		connect: func(ctx context.Context, opts docker.Options) (engine, error) {
			opts.Starts = starts
			return connect(ctx, opts)
		},
	}
}

// run is the whole program: it runs the verb that the arguments name and
// returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	findHome()
	ctx, stop := withSignals(ctx, a.abandon)
	defer stop()
	a.args = args
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	cmd, err := root.ExecuteContextC(ctx)
	return a.finish(ctx, cmd, err)
}

// getenv is the value of an environment variable, "" where it is not set.
func (a *app) getenv(name string) string {
	value, _ := a.lookupEnv(name)
	return value
}

// notice says a line to the person, on stderr; a terminal breaks it at words.
func (a *app) notice(format string, args ...any) {
	text := "belljar: " + ui.Line(fmt.Sprintf(format, args...))
	if terminal := ui.Detect(a.stderr, a.getenv); terminal.Terminal {
		text = ui.Wrap(text, terminal.Width())
	}
	fmt.Fprintln(a.stderr, text)
}

// noticeWhole says a line with a command in it, which must stay one line to be
// copied.
func (a *app) noticeWhole(line string) { fmt.Fprintln(a.stderr, "belljar: "+ui.Line(line)) }

// newRoot joins the verbs.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "belljar",
		Short:         "Run an LLM agent, or any command, inside a resource-limited container",
		Long:          rootLong,
		Example:       rootExample,
		Version:       a.build.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          unknownVerb,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.SetVersionTemplate(a.build.String() + "\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err: err} })
	root.AddCommand(
		newExec(a), newRun(a), newDoctor(a), newImage(a), newSessions(a), newShow(a), newReplay(a), newPs(a), newGC(a), newMCP(a), newVersion(a),
	)
	finishHelp(root)
	a.addCompletion(root)
	return root
}

// unknownVerb refuses what is not a verb, with the nearest ones.
func unknownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("there is no verb %q", args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		err = fmt.Errorf("there is no verb %q; did you mean %q?", args[0], near[0])
	}
	return &usageError{err: err}
}
