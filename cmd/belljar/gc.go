package main

import (
	"context"
	"errors"
	"fmt"

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

// newGC makes the verb gc.
func newGC(a *app) *cobra.Command {
	var flags engineFlags
	var dry, asJSON bool
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Remove what belljars that died left behind",
		Long: `gc looks at every container and file that belljar made and removes what is of no
use any more: containers whose owner is surely dead, folders of pools that
nobody holds, cached files that no container has mounted and that were not used
for a week. It says what it removed, and what it left and why. What belongs to
a process that lives is never touched.

A container ends by itself within a minute of its owner, and every start of a
sandbox removes those of the dead, so there is rarely much to do.`,
		Args: noArgs,
		RunE: verb(func(cmd *cobra.Command, _ []string) error {
			return a.withEngine(cmd.Context(), &flags, func(e engine) error {
				return a.collect(cmd.Context(), e, dry, asJSON)
			})
		}),
	}
	flags.add(cmd.Flags())
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be removed and remove nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

// collect removes what is stale and says so.
func (a *app) collect(ctx context.Context, e engine, dry, asJSON bool) error {
	all, err := e.Collect(ctx, dry)
	dir, dirErr := pool.DefaultDir()
	if dirErr == nil {
		var folders []pool.Leftover
		folders, dirErr = pool.Collect(dir, dry)
		for _, f := range folders {
			all = append(all, docker.Leftover{Kind: "folder", Name: f.Path, Stale: f.Stale, Why: f.Why, Err: f.Err})
		}
	}
	errs := []error{err, dirErr}
	rows := [][]string{{"ACTION", "WHAT", "NAME", "WHY"}}
	for _, l := range all {
		line := leftoverLine(l, dry)
		if l.Err != nil {
			errs = append(errs, l.Err)
		}
		if asJSON {
			errs = append(errs, writeJSON(a.out(), line))
			continue
		}
		name := line.Name
		if line.Kind == "container" {
			name = shortContainer(name)
		}
		rows = append(rows, []string{actionText(line.Action), line.Kind, name, line.Why})
	}
	switch {
	case asJSON:
	case len(all) == 0:
		a.notice("there is nothing of belljar's on %s or in its folders", e.Description())
	default:
		errs = append(errs, ui.Table(a.out(), 0, rows))
	}
	return errors.Join(errs...)
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
