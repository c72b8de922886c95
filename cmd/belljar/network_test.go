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

// TestNetworkBounds: what asks for hosts without end fills nothing.
func TestNetworkBounds(t *testing.T) {
	memory, log := &trajectory.Memory{}, &networkLog{}
	record := &networkRecord{}
	record.begin(memory)
	const count = maxNetworkEvents + 100
	for i := range count {
		decision := egress.Decision{Host: fmt.Sprintf("h%d.example", i), Port: 443, Reason: "no"}
		if err := record.decided(decision); err != nil {
			t.Fatal(err)
		}
		if err := log.decided(decision); err != nil {
			t.Fatal(err)
		}
	}
	bodies := memory.Bodies()
	if len(bodies) != maxNetworkEvents+1 {
		t.Errorf("%d events, want %d and a notice", len(bodies), maxNetworkEvents)
	}
	if notice, ok := bodies[len(bodies)-1].(trajectory.Notice); !ok || notice.Kind != trajectory.NoticeNetwork {
		t.Errorf("the last event is %+v, want a notice", bodies[len(bodies)-1])
	}
	if entries, dropped := log.list(); len(entries) != maxNetworkEntries || dropped != count-maxNetworkEntries {
		t.Errorf("%d entries and %d dropped, want %d of %d", len(entries), dropped, maxNetworkEntries, count)
	}
	lines := log.lines()
	if len(lines) != maxNetworkLines+1 || !strings.Contains(lines[maxNetworkLines], "more hosts were denied") {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
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
