package main

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/ui"
)

// A sessionJSON is one session as sessions --json prints it, one a line.
type sessionJSON struct {
	ID      string    `json:"id"`
	Started time.Time `json:"started"`
	Stop    string    `json:"stop"` // empty while the run has no end on record
	Turns   int       `json:"turns"`
	// CostUSD is what the run cost, up to now where it has no end on record;
	// null is unknown.
	CostUSD   *float64 `json:"cost_usd"`
	Estimated bool     `json:"estimated"` // the server did not count all tokens
	Model     string   `json:"model"`
	Workspace string   `json:"workspace"`
	Task      string   `json:"task"`
	Dir       string   `json:"dir"`
	// Problem says what of the session cannot be read.
	Problem string `json:"problem,omitempty"`
}

// newSessions makes the verb sessions.
func newSessions(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the recorded runs, the newest first",
		Args:  noArgs,
		RunE: verb(func(*cobra.Command, []string) error {
			list, err := describeSessions()
			if err != nil {
				return err
			}
			if !asJSON {
				return a.sessionTable(list)
			}
			for _, s := range list {
				if err := writeJSON(a.out(), s); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

// recordedSessions finds every session, the newest first.
func recordedSessions() ([]*trajectory.Session, error) {
	dir, err := trajectory.StateDir()
	if err != nil {
		return nil, err
	}
	return trajectory.List(dir)
}

// describeSessions reads what is known of every session. Those without an end
// on record are read as a whole.
func describeSessions() ([]sessionJSON, error) {
	found, err := recordedSessions()
	if err != nil {
		return nil, err
	}
	var list []sessionJSON
	for _, session := range found {
		list = append(list, describeSession(session))
	}
	return list, nil
}

// describeSession reads one session. One that cannot be read is still listed.
func describeSession(session *trajectory.Session) sessionJSON {
	s := sessionJSON{ID: session.ID, Dir: session.Dir}
	manifest, err := session.Manifest()
	if err != nil {
		s.Problem = err.Error()
	}
	s.Started, s.Model, s.Workspace, s.Task = manifest.Started, manifest.Model, manifest.Workspace, manifest.Task
	last, err := session.LastEvent()
	if err != nil && !errors.Is(err, io.EOF) && s.Problem == "" {
		s.Problem = err.Error()
	}
	end, ended := last.Body.(trajectory.End)
	s.Stop, s.Turns = end.Stop, end.Turns
	switch {
	case end.Usage != nil:
		s.CostUSD, s.Estimated = end.Usage.CostUSD, end.Usage.Estimated
	case !ended:
		// What was killed has cost something as well.
		sum := usageSoFar(session)
		s.CostUSD, s.Estimated = sum.CostUSD, sum.Estimated
	}
	return s
}

// usageSoFar sums what is on record of a run that has no end there. Before the
// first count nothing is known, not even that there is a price.
func usageSoFar(session *trajectory.Session) trajectory.Usage {
	var sum trajectory.Usage
	counted := false
	events, err := session.Events()
	if err != nil {
		return trajectory.Usage{}
	}
	defer events.Close()
	for event, err := range trajectory.NewReader(events).All() {
		if err != nil {
			return trajectory.Usage{} // a part of the sum would be taken for it
		}
		inner, _ := trajectory.Unnest(event.Body)
		usage, ok := inner.(trajectory.Usage) // that of sub-agents as well
		switch {
		case ok && counted:
			sum = sum.Add(usage)
		case ok:
			sum, counted = usage, true
		}
	}
	return sum
}

// sessionTable prints the sessions for a person.
func (a *app) sessionTable(list []sessionJSON) error {
	if len(list) == 0 {
		a.notice("there are no recorded runs; belljar run makes them")
		return nil
	}
	rows := [][]string{{"SESSION", "STARTED", "STOP", "TURNS", "COST", "MODEL", "TASK"}}
	var ids []string
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	for _, s := range list {
		row := sessionRow(s)
		if a.isPersonal() {
			row = shortRow(row, s, ids, time.Now())
		}
		rows = append(rows, row)
	}
	return ui.Table(a.out(), a.tableWidth(), rows)
}

// sessionRow describes one session.
func sessionRow(s sessionJSON) []string {
	stop, turns, started, task := s.Stop, strconv.Itoa(s.Turns), "-", firstLine(s.Task)
	cost := ui.Cost(s.CostUSD, s.Estimated)
	if stop == "" {
		// Still running, or killed: the record does not tell which.
		stop, turns = "unfinished", "-"
	}
	if !s.Started.IsZero() {
		started = s.Started.Local().Format("2006-01-02 15:04")
	}
	if s.Problem != "" {
		task = "(" + s.Problem + ")"
	}
	return []string{s.ID, started, stop, turns, cost, s.Model, task}
}

// shownModel is how many columns of a model's name are shown on a terminal.
const shownModel = 12

// shortRow tells what can be told in fewer columns in those, for a terminal,
// so that the task gets the room.
func shortRow(row []string, s sessionJSON, ids []string, now time.Time) []string {
	id, started := shortestName(s.ID, ids), row[1]
	switch when := s.Started.Local(); {
	case s.Started.IsZero():
	case when.Year() == now.Year():
		started = when.Format("Jan 02 15:04")
	default:
		started = when.Format("2006-01-02")
	}
	return []string{id, started, row[2], row[3], row[4], ui.Clip(ui.Line(row[5]), shownModel), row[6]}
}

// randomPart is the length of the random end of a session's id.
const randomPart = 4

// shortestName is the shortest name that show takes for a session: the end of
// its id, if that of no other session is the same.
func shortestName(id string, all []string) string {
	short := id[max(0, len(id)-randomPart):]
	for _, other := range all {
		if other != id && strings.HasSuffix(other, "-"+short) {
			return id
		}
	}
	return short
}
