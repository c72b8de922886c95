package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belljar/belljar/internal/ui"
	"github.com/belljar/belljar/sandbox/docker"
	"github.com/belljar/belljar/sandbox/pool"
)

// A leftoverJSON is one thing as gc --json prints it, one a line.
type leftoverJSON struct {
	Kind string `json:"kind"` // container, file or folder
	Name string `json:"name"`
	// Action is "removed", "would_remove", "kept" or "failed".
	Action string `json:"action"`
	Why    string `json:"why"`
	Error  string `json:"error,omitempty"`
}

// gcOptions are the flags of gc.
type gcOptions struct{ dry, kept, json bool }

// newGC makes the verb gc.
func newGC(a *app) *cobra.Command {
	var flags engineFlags
	var opts gcOptions
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Remove what belljars that died left behind",
		Long: `gc looks at every container and file that belljar made and removes what is of no
use any more: containers whose owner is surely dead, folders of pools that
nobody holds, cached files that no container has mounted and that were not used
for a week. It says what it removed and why, how much it left, and with --kept
what and why. What belongs to a process that lives is never touched.

A container ends by itself within a minute of its owner, and every start of a
sandbox removes those of the dead, so there is rarely much to do.`,
		Args: noArgs,
		RunE: verb(func(cmd *cobra.Command, _ []string) error {
			return a.withEngine(cmd.Context(), &flags, func(e engine) error {
				return a.collect(cmd.Context(), e, opts)
			})
		}),
	}
	flags.add(cmd.Flags())
	cmd.Flags().BoolVar(&opts.dry, "dry-run", false, "say what would be removed and remove nothing")
	cmd.Flags().BoolVar(&opts.kept, "kept", false, "list what is left, too")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print one JSON object a line, also for what is left")
	return cmd
}

// collect removes what is stale and says so.
func (a *app) collect(ctx context.Context, e engine, opts gcOptions) error {
	all, err := e.Collect(ctx, opts.dry)
	dir, dirErr := pool.DefaultDir()
	if dirErr == nil {
		var folders []pool.Leftover
		folders, dirErr = pool.Collect(dir, opts.dry)
		for _, f := range folders {
			all = append(all, docker.Leftover{Kind: "folder", Name: f.Path, Stale: f.Stale, Why: f.Why, Err: f.Err})
		}
	}
	errs := []error{err, dirErr}
	var lines []leftoverJSON
	for _, l := range all {
		if l.Err != nil {
			errs = append(errs, l.Err)
		}
		lines = append(lines, leftoverLine(l, opts.dry))
	}
	switch {
	case opts.json:
		for _, line := range lines {
			errs = append(errs, writeJSON(a.out(), line))
		}
	case len(all) == 0:
		a.notice("there is nothing of belljar's on %s or in its folders", e.Description())
	default:
		errs = append(errs, a.leftoverTable(lines, opts))
	}
	return errors.Join(errs...)
}

// leftoverTable prints what became of things for a person. What was kept is
// mostly much, and counted only.
func (a *app) leftoverTable(lines []leftoverJSON, opts gcOptions) error {
	rows := [][]string{{"ACTION", "WHAT", "NAME", "WHY"}}
	kept := map[string]int{}
	for _, line := range lines {
		if line.Action == "kept" && !opts.kept {
			kept[line.Kind]++
			continue
		}
		name := line.Name
		if line.Kind == "container" {
			name = shortContainer(name)
		}
		rows = append(rows, []string{actionText(line.Action), line.Kind, name, line.Why})
	}
	var err error
	if len(rows) > 1 {
		err = ui.Table(a.out(), 0, rows)
	}
	if text := keptText(kept); text != "" && len(rows) > 1 {
		a.notice("kept: %s; --kept lists what and why", text)
	} else if text != "" {
		a.notice("there is nothing to remove; kept: %s; --kept lists what and why", text)
	}
	return err
}

// keptText counts what was kept by its kind, "" where that is nothing.
func keptText(kept map[string]int) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(kept)) {
		parts = append(parts, ui.Plural(kept[kind], kind))
	}
	return strings.Join(parts, ", ")
}

// leftoverLine says what was done about something.
func leftoverLine(l docker.Leftover, dry bool) leftoverJSON {
	line := leftoverJSON{Kind: l.Kind, Name: l.Name, Action: "kept", Why: l.Why}
	switch {
	case l.Err != nil:
		line.Action, line.Error = "failed", fmt.Sprint(l.Err)
	case l.Stale && dry:
		line.Action = "would_remove"
	case l.Stale:
		line.Action = "removed"
	}
	return line
}

// actionText words an action for a person.
func actionText(action string) string {
	if action == "would_remove" {
		return "would remove"
	}
	return action
}
