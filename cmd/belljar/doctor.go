package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belljar/belljar/images"
	"github.com/belljar/belljar/internal/doctor"
	"github.com/belljar/belljar/internal/ui"
	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
)

// canaryVariable is set in belljar's own environment while the doctor works;
// its value must not be seen inside.
const canaryVariable = "BELLJAR_DOCTOR_CANARY"

// doctorOptions are the flags of doctor.
type doctorOptions struct {
	engineFlags
	limitFlags
	profileFlags
	json bool
}

// newDoctor makes the verb doctor.
func newDoctor(a *app) *cobra.Command {
	var opts doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Prove on this engine what belljar promises about a sandbox",
		Long: `doctor starts a sandbox over a folder of its own and reads every guarantee back
from inside: the limits, the user, the ownership of files, the lack of a
network, that nothing of the host is visible. Then it tries to get out, by a
hundred attempts that must all be denied, and drives a second, small sandbox to
its limits: full memory, a fork bomb, full disks, a command over its time. In a
third one only a named host may be reached, and a belljar of its own is killed
to see that it leaves nothing. It prints one line for each guarantee: ok, FAIL,
skip with the reason where this engine cannot do it or show it, and weak where
--profile, --user or --rootfs asked for less than strict.`,
		Args: noArgs,
		RunE: verb(func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), &opts) }),
	}
	opts.profileFlags.add(cmd.Flags())
	opts.limitFlags.add(cmd.Flags())
	opts.engineFlags.add(cmd.Flags())
	cmd.Flags().BoolVar(&opts.json, "json", false, "print one JSON object a line")
	return cmd
}

// doctor makes the checks and prints them as they end.
func (a *app) doctor(ctx context.Context, opts *doctorOptions) error {
	engineOptions, err := opts.options()
	if err != nil {
		return err
	}
	canary := rand.Text()
	if err := os.Setenv(canaryVariable, canary); err != nil {
		return fmt.Errorf("setting a variable that must not be seen inside: %w", err)
	}
	defer os.Unsetenv(canaryVariable)
	secrets := []string{canary}
	if key := a.getenv(keyVariable); key != "" {
		secrets = append(secrets, key)
	}
	spec := sandbox.Spec{
		Image: opts.image, Runtime: opts.runtime, Limits: opts.limits(), Network: sandbox.NetworkNone,
		AllowMissingLimits: true, // told by a check of its own
	}
	if spec.Image == "" {
		spec.Image = images.Tag()
	}
	if spec, err = opts.apply(spec); err != nil {
		return err
	}
	var connected engine
	defer func() {
		if connected != nil {
			_ = connected.Close()
		}
	}()
	printer := newCheckPrinter(a, opts.json)
	summary, err := doctor.Run(ctx, doctor.Options{
		Connect: func(ctx context.Context) (doctor.Engine, error) {
			reached, err := a.connect(ctx, engineOptions)
			if err != nil {
				return nil, err
			}
			connected = reached
			return reached, nil
		},
		Spec: spec, OwnerOf: workspace.OwnerOf, Secrets: secrets, Progress: a.stderr, KeyFiles: workspace.KeyFiles(),
		Child: opts.child,
		Owned: func(ctx context.Context, workspace string) (int, error) {
			return containersOver(ctx, connected, workspace)
		},
	}, printer.print)
	if err != nil {
		return err
	}
	if printer.end(summary); printer.err != nil {
		return printer.err
	}
	if !summary.Good() {
		return &outcome{exitNo}
	}
	return nil
}

// A checkPrinter prints checks as they end.
type checkPrinter struct {
	app   *app
	json  bool
	color bool
	err   error // the first failure to print
}

func newCheckPrinter(a *app, asJSON bool) *checkPrinter {
	return &checkPrinter{app: a, json: asJSON, color: ui.Detect(a.stdout, a.getenv).Color}
}

func (p *checkPrinter) print(c doctor.Check) {
	if p.err != nil {
		return
	}
	if p.json {
		p.err = writeJSON(p.app.out(), c)
		return
	}
	_, p.err = fmt.Fprintf(p.app.out(), "%s  %-23s  %s\n",
		ui.Verdict(p.color, string(c.Status), c.Status == doctor.OK, c.Status == doctor.Fail), c.Name, ui.Line(c.Detail))
}

// end prints what all of it came to.
func (p *checkPrinter) end(s doctor.Summary) {
	if p.err == nil && !p.json {
		_, p.err = fmt.Fprintln(p.app.out(), summaryLine(s))
	}
}

// summaryLine says in one line what the checks came to.
func summaryLine(s doctor.Summary) string {
	line := ui.Plural(s.Made, "check")
	switch {
	case s.Held == s.Made && s.Made == 1:
		line += ", it holds"
	case s.Held == s.Made:
		line += ", all hold"
	default:
		line += ": " + strings.Join(summaryParts(s), ", ")
	}
	if s.NotMade > 0 {
		verb := "were"
		if s.NotMade == 1 {
			verb = "was"
		}
		line += "; " + ui.Plural(s.NotMade, "more check") + " " + verb + " not made, as they stand on what failed"
	}
	return line
}

// summaryParts counts the checks by how they ended, without what there is none
// of.
func summaryParts(s doctor.Summary) []string {
	var parts []string
	for _, part := range []struct {
		count     int
		one, many string
	}{
		{s.Held, "holds", "hold"}, {s.Weak, "is loosened", "are loosened"}, {s.Failed, "fails", "fail"}, {s.Skipped, "was skipped", "were skipped"},
	} {
		switch part.count {
		case 0:
		case 1:
			parts = append(parts, "1 "+part.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", part.count, part.many))
		}
	}
	return parts
}
