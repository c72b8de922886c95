package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/egress"
	"github.com/belljar/belljar/sandbox"
)

func TestNetworkMode(t *testing.T) {
	for _, test := range []struct {
		name  string
		flags networkFlags
		want  sandbox.Network
		words string
	}{
		{"nothing", networkFlags{}, sandbox.NetworkNone, ""},
		{"bridge", networkFlags{network: "bridge"}, sandbox.NetworkBridge, ""},
		{"allow alone", networkFlags{network: "allow"}, sandbox.NetworkAllow, ""},
		{"implied", networkFlags{allow: []string{"a.example"}}, sandbox.NetworkAllow, ""},
		{"implied by a private one", networkFlags{allowPrivate: []string{"a.example"}}, sandbox.NetworkAllow, ""},
		{"implied by a header", networkFlags{inject: []string{"a.example=X:Y"}}, sandbox.NetworkAllow, ""},
		{"both", networkFlags{network: "allow", allow: []string{"a.example"}}, sandbox.NetworkAllow, ""},
		{"against each other", networkFlags{network: "none", allow: []string{"a.example"}}, "", "--allow-host goes with"},
		{"unknown", networkFlags{network: "host"}, "", "not known"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.flags.mode()
			if got != test.want || (err == nil) != (test.words == "") || err != nil && !strings.Contains(err.Error(), test.words) {
				t.Errorf("mode = %q, %v, want %q and %q", got, err, test.want, test.words)
			}
		})
	}
}

func TestNetworkRecord(t *testing.T) {
	memory := &trajectory.Memory{}
	record := &networkRecord{}
	denied := egress.Decision{Host: "a.example", Port: 1, Reason: "no", Hint: "not for the record"}
	if err := record.decided(denied); err == nil {
		t.Error("a decision holds before there is a record")
	}
	record.begin(memory)
	message, end := trajectory.Message{Role: "user", Text: "go"}, trajectory.End{Stop: "finished"}
	for _, err := range []error{record.decided(denied), record.Record(message), record.decided(denied), record.Record(end)} {
		if err != nil {
			t.Error(err)
		}
	}
	if err := record.decided(denied); err == nil {
		t.Error("a decision holds after the end of the record")
	}
	event := trajectory.Network{Host: "a.example", Port: 1, Reason: "no"}
	want := []trajectory.Body{event, message, event, end}
	if diff := cmp.Diff(want, memory.Bodies()); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

// TestNetworkBounds: what asks for hosts without end fills nothing, and hides
// nothing of what was allowed.
func TestNetworkBounds(t *testing.T) {
	memory, log := &trajectory.Memory{}, &networkLog{}
	record := &networkRecord{}
	record.begin(memory)
	decide := func(host string, allowed bool) {
		t.Helper()
		d := egress.Decision{Host: host, Port: 443, Reason: "no"}
		if allowed {
			d = egress.Decision{Host: host, Port: 443, Allowed: true, Rule: "*.example"}
		}
		for _, watcher := range []networkWatcher{record, log} {
			if err := watcher.decided(d); err != nil {
				t.Fatal(err)
			}
		}
	}
	const denied = maxDeniedEvents + 100
	for i := range denied {
		decide(fmt.Sprintf("h%d.example", i), false)
	}
	decide("late.example", true)
	bodies := memory.Bodies()
	if len(bodies) != maxDeniedEvents+2 {
		t.Errorf("%d events, want %d, a notice and what was allowed", len(bodies), maxDeniedEvents)
	}
	wantNetworkNotice(t, bodies[maxDeniedEvents], "denials")
	want := trajectory.Network{Host: "late.example", Port: 443, Allowed: true, Rule: "*.example"}
	if diff := cmp.Diff(trajectory.Body(want), bodies[len(bodies)-1]); diff != "" {
		t.Errorf("the last event (-want +got):\n%s", diff)
	}
	entries, dropped := log.list()
	if len(entries) != maxDeniedEntries+1 || dropped != denied-maxDeniedEntries || !entries[maxDeniedEntries].Allowed {
		t.Errorf("%d entries and %d dropped, the last %+v; want %d of %d and what was allowed",
			len(entries), dropped, entries[len(entries)-1], maxDeniedEntries, denied)
	}
	lines := log.lines()
	if len(lines) != maxNetworkLines+1 || !strings.Contains(lines[maxNetworkLines], "more hosts were denied") {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

// TestAllowedBounds: connections without end that a rule allows fill nothing,
// and none of the rules stays unnamed.
func TestAllowedBounds(t *testing.T) {
	memory, log := &trajectory.Memory{}, &networkLog{}
	record := &networkRecord{}
	record.begin(memory)
	decide := func(host, rule string) {
		t.Helper()
		d := egress.Decision{Host: host, Port: 443, Allowed: true, Rule: rule}
		for _, watcher := range []networkWatcher{record, log} {
			if err := watcher.decided(d); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range maxAllowedEvents + 50 {
		decide("same.example", "same.example")
	}
	bodies := memory.Bodies()
	if len(bodies) != maxAllowedEvents+1 {
		t.Errorf("%d events for one host, want %d and a notice", len(bodies), maxAllowedEvents)
	}
	wantNetworkNotice(t, bodies[maxAllowedEvents], "allowed connections")
	for i := range maxAllowedTargets + 50 {
		decide(fmt.Sprintf("h%d.a.example", i), "*.a.example")
	}
	decide("x.b.example", "*.b.example")
	bodies = memory.Bodies()
	if want := maxAllowedEvents + 1 + maxAllowedTargets - 1 + 2; len(bodies) != want {
		t.Errorf("%d events, want %d", len(bodies), want)
	}
	wantNetworkNotice(t, bodies[len(bodies)-2], "*.a.example")
	wantNetworkNotice(t, bodies[len(bodies)-1], "*.b.example")

	entries, dropped := log.list()
	total := 0
	for _, entry := range entries {
		total += entry.Count
	}
	if want := maxAllowedEvents + 50 + maxAllowedTargets + 50 + 1; total != want || dropped != 0 || len(entries) != maxAllowedEntries+2 {
		t.Errorf("%d decisions in %d entries, %d dropped; want %d in %d", total, len(entries), dropped, want, maxAllowedEntries+2)
	}
	last := networkEntry{Allowed: true, Rule: "*.b.example", Count: 1}
	if diff := cmp.Diff(last, entries[len(entries)-1]); diff != "" {
		t.Errorf("the last entry (-want +got):\n%s", diff)
	}
}

func wantNetworkNotice(t *testing.T, body trajectory.Body, words string) {
	t.Helper()
	if notice, ok := body.(trajectory.Notice); !ok || notice.Kind != trajectory.NoticeNetwork || !strings.Contains(notice.Text, words) {
		t.Errorf("the event is %+v, want a notice about %s", body, words)
	}
}

// TestNotReached: what was allowed and is not there is told, once.
func TestNotReached(t *testing.T) {
	memory, log := &trajectory.Memory{}, &networkLog{}
	record := &networkRecord{}
	record.failed("early.example", 1, "before there is a record")
	record.begin(memory)
	for _, watcher := range []networkWatcher{log, record} {
		if err := watcher.decided(egress.Decision{Host: "a.example", Port: 443, Allowed: true, Rule: "a.example"}); err != nil {
			t.Fatal(err)
		}
		watcher.failed("a.example", 443, "no such\nhost")
		watcher.failed("a.example", 443, "no such\nhost")
	}
	const line = "network: a.example:443 was allowed and could not be reached: no such host"
	if diff := cmp.Diff([]string{line}, log.lines()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	entries, _ := log.list()
	want := []networkEntry{{Host: "a.example", Port: 443, Allowed: true, Rule: "a.example", Count: 1, Failed: 2, Failure: "no such host"}}
	if diff := cmp.Diff(want, entries); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	events := []trajectory.Body{
		trajectory.Network{Host: "a.example", Port: 443, Allowed: true, Rule: "a.example"},
		trajectory.Notice{Kind: trajectory.NoticeNetwork, Text: line},
	}
	if diff := cmp.Diff(events, memory.Bodies()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
