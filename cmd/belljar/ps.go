package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/belljar/belljar/images"
	"github.com/belljar/belljar/internal/ui"
	"github.com/belljar/belljar/sandbox/docker"
)

// newPs makes the verb ps.
func newPs(a *app) *cobra.Command {
	var flags engineFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ps",
		Short: "List the sandboxes on the engine, the newest first",
		Long: `ps lists the containers on the engine that belljar made, whichever process and
user made them. OWNER is the process that one belongs to: it is followed by
"dead" when there is no such process any more, and by "?" when that cannot be
told from here. belljar gc removes what belongs to nobody.`,
		Args: noArgs,
		RunE: verb(func(cmd *cobra.Command, _ []string) error {
			return a.withEngine(cmd.Context(), &flags, func(e engine) error {
				return a.listSandboxes(cmd.Context(), e, asJSON)
			})
		}),
	}
	flags.add(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

// listSandboxes prints the sandboxes.
func (a *app) listSandboxes(ctx context.Context, e engine, asJSON bool) error {
	list, err := e.List(ctx)
	if err != nil {
		return err
	}
	rows := [][]string{{"ID", "STATE", "AGE", "OWNER", "SESSION", "IMAGE", "WORKSPACE"}}
	for _, s := range list {
		if asJSON {
			if err := writeJSON(a.out(), s); err != nil {
				return err
			}
			continue
		}
		session, image := s.Session, s.Image
		if a.isPersonal() {
			session, image = session[max(0, len(session)-randomPart):], shortImage(image)
		}
		rows = append(rows, []string{
			shortContainer(s.ID), s.State, age(time.Since(s.Created)), ownerText(s), orDash(session), image, orDash(s.Workspace),
		})
	}
	switch {
	case asJSON:
		return nil
	case len(list) == 0:
		a.notice("there are no sandboxes on %s", e.Description())
		return nil
	}
	return ui.Table(a.out(), a.tableWidth(), rows)
}

// shortContainer is a container's id as people name it.
func shortContainer(id string) string { return id[:min(len(id), 12)] }

// shownImage is how many columns of an image's name are shown on a terminal.
const shownImage = 16

// shortImage is an image's name in few columns.
func shortImage(ref string) string {
	if ref == images.Tag() {
		return "default"
	}
	return ui.Clip(ui.Line(ref), shownImage)
}

// ownerText tells the process that a sandbox belongs to.
func ownerText(s docker.Listed) string {
	text := strconv.Itoa(s.PID)
	switch s.Owner {
	case docker.OwnerAlive:
		return text
	case docker.OwnerDead:
		return text + " dead"
	default:
		return text + " ?"
	}
}

// age tells how long ago something was, roughly.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
