package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/agent/trajectory"
)

func TestShortRow(t *testing.T) {
	ids := []string{"20260102-030405-abcd", "20260102-030406-abcd", "20260102-030407-wxyz"}
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.Local)
	for _, test := range []struct {
		name    string
		session sessionJSON
		want    []string
	}{
		{
			"this year", sessionJSON{ID: ids[2], Started: now, Stop: "finished", Turns: 3, CostUSD: new(0.1234), Estimated: true, Model: "a-model-with-a-long-name", Task: "Do\nit"},
			[]string{"wxyz", "Nov 29 12:00", "finished", "3", "~$0.12", "a-model-wit…", "Do"},
		},
		{
			"another year", sessionJSON{ID: ids[2], Started: now.AddDate(-1, 0, 0), CostUSD: new(0.0), Model: "m"},
			[]string{"wxyz", "2025-11-29", "unfinished", "-", "$0", "m", ""},
		},
		{
			"an end that two have, and no start", sessionJSON{ID: ids[0], Problem: "no manifest"},
			[]string{ids[0], "-", "unfinished", "-", "unknown", "", "(no manifest)"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, shortRow(sessionRow(test.session), test.session, ids, now)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInstructionsText(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"none", "", ""},
		{"blank", " \n\n", ""},
		{"one line", "Use tabs.", "AGENTS.md (1 line, part of the prompt)"},
		{"several", "a\n\nb\n\n", "AGENTS.md (3 lines, part of the prompt)"},
		{"too long", string(make([]byte, 40<<10)), "AGENTS.md (its first 32 KiB, part of the prompt)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := instructionsText(test.text); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestAsksForJSON(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		want bool
	}{
		{"asked", []string{"exec", "--bad", "--json", "--", "x"}, true},
		{"asked with a value", []string{"exec", "--json=true", "--bad"}, true},
		{"refused", []string{"exec", "--json=false", "--bad"}, false},
		{"of the command", []string{"exec", "--bad", "--", "x", "--json"}, false},
		{"not asked", []string{"exec", "--bad"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := asksForJSON(test.args); got != test.want {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

// A run without an end has cost what is on record of it.
func TestCostSoFar(t *testing.T) {
	cost := func(usd float64) trajectory.Usage { return trajectory.Usage{Input: 1, CostUSD: new(usd)} }
	for _, test := range []struct {
		name   string
		events []trajectory.Body
		want   *float64
	}{
		{"nothing yet", []trajectory.Body{trajectory.Start{}}, nil},
		{"an answer that cost nothing", []trajectory.Body{trajectory.Start{}, cost(0)}, new(0.0)},
		{"two answers", []trajectory.Body{cost(0.5), trajectory.Notice{Kind: "retry"}, cost(0.25)}, new(0.75)},
		{"an unknown price", []trajectory.Body{cost(0.5), trajectory.Usage{Input: 1}}, nil},
		{"an end without a sum", []trajectory.Body{cost(0.5), trajectory.End{Stop: "finished"}}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			session, err := trajectory.Create(t.TempDir(), trajectory.Manifest{})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			for _, event := range test.events {
				if err := session.Writer().Record(event); err != nil {
					t.Fatal(err)
				}
			}
			if got := describeSession(session); !cmp.Equal(got.CostUSD, test.want) || got.Problem != "" {
				t.Errorf("%+v", got)
			}
		})
	}
}
