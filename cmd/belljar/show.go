package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/ui"
)

// newShow makes the verb show.
func newShow(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a recorded run from its task to its end",
		Long: `show prints a recorded run as text: the task, what the model said, each tool
call in full with its result, and how it ended. ID is a session as belljar
sessions lists it, or a unique beginning or end of one. With --json the record
itself is printed, one event a line.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("show takes one session; belljar sessions lists them")
			}
			return nil
		},
		RunE: verb(func(_ *cobra.Command, args []string) error { return a.show(args[0], asJSON) }),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the events as they are on record")
	return cmd
}

// show prints one session.
func (a *app) show(name string, asJSON bool) error {
	dir, err := trajectory.StateDir()
	if err != nil {
		return err
	}
	session, err := trajectory.Open(dir, name)
	if errors.Is(err, trajectory.ErrNoSession) {
		return &noError{err}
	}
	if err != nil {
		return err
	}
	defer session.Close()
	events, err := session.Events()
	if err != nil {
		return err
	}
	defer events.Close()
	if asJSON {
		_, err := io.Copy(a.out(), events)
		return err
	}
	manifest, err := session.Manifest()
	if err != nil {
		a.notice("%s", err)
	}
	return a.showEvents(session, manifest, trajectory.NewReader(events))
}

// showEvents replays a record on stdout.
func (a *app) showEvents(session *trajectory.Session, manifest trajectory.Manifest, reader *trajectory.Reader) error {
	terminal := ui.Detect(a.stdout, a.getenv)
	terminal.Live = false // nothing happens while it is shown
	out := &errorKeeper{Writer: a.out()}
	renderer := ui.NewRenderer(out, ui.Options{Terminal: terminal, Whole: true, SessionDir: session.Dir})
	defer renderer.Close()
	renderer.Header(headerOf(session.ID, manifest))
	totals := ui.Totals{Stop: "the record has no end: the run is still going on, or was killed"}
	totals.Usage.CostUSD = new(0.0)
	var first, last time.Time
	for event, err := range reader.All() {
		if err != nil {
			return err
		}
		if first.IsZero() {
			first = event.Time
		}
		last = event.Time
		inner, _ := trajectory.Unnest(event.Body)
		if usage, is := inner.(trajectory.Usage); is {
			totals.Usage = totals.Usage.Add(usage) // that of sub-agents as well
		}
		switch body := event.Body.(type) {
		case trajectory.Message:
			if body.Role == string(model.Assistant) {
				totals.Turns++
			}
		case trajectory.End:
			totals.Waits, totals.Waited = body.Waits, time.Duration(body.WaitedMS)*time.Millisecond
			totals.Stop, totals.Good, totals.Turns = stopText(agent.Stop(body.Stop)), agent.Stop(body.Stop) == agent.StopFinished, body.Turns
		}
		if err := renderer.Record(event.Body); err != nil {
			return err
		}
	}
	totals.Took = last.Sub(first)
	if reader.Truncated() {
		renderer.Notice("the record stops in the middle of a line; the rest was never written")
	}
	if skipped := reader.Skipped(); skipped.Events > 0 {
		renderer.Notice(fmt.Sprintf("%s of a newer belljar not shown", ui.Plural(skipped.Events, "event")))
	}
	renderer.Totals(totals)
	return out.err
}

// An errorKeeper remembers the first failure of a writer, for a renderer that
// does not stop at one.
type errorKeeper struct {
	io.Writer
	err error
}

func (k *errorKeeper) Write(p []byte) (int, error) {
	if k.err != nil {
		return 0, k.err
	}
	n, err := k.Writer.Write(p)
	k.err = err
	return n, err
}

// headerOf says what a run was about from its manifest.
func headerOf(id string, m trajectory.Manifest) ui.Header {
	engine := m.Engine
	if m.Runtime != "" {
		engine += ", " + m.Runtime
	}
	network := m.Network
	if hosts := slices.Concat(m.AllowHosts, m.InjectHeaders); len(hosts) > 0 {
		network += ": " + strings.Join(hosts, ", ")
	}
	return ui.Header{
		Session: id, Workspace: m.Workspace, Image: m.Image.Ref, Engine: engine, Model: m.Model,
		Tools:  ownTools(m),
		Limits: m.Limits, Network: network, Approval: approvalText(m), Loosened: m.Loosened, Started: m.Started,
	}
}

// approvalText says which calls a person was asked about, where that is not the
// usual.
func approvalText(m trajectory.Manifest) string {
	var parts []string
	for _, kind := range [...]struct{ name, mode string }{{"read", m.Approval.Read}, {"write", m.Approval.Write}, {"execute", m.Approval.Execute}} {
		if kind.mode != "" && kind.mode != approvalNever.String() {
			parts = append(parts, kind.name+" "+kind.mode)
		}
	}
	if m.Unguarded {
		parts = append(parts, "no guard against slips")
	}
	return strings.Join(parts, ", ")
}

// firstLine is the first line of a text that says something.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}
