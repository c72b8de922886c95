package main

import (
	"errors"
	"fmt"
	"sync"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/egress"
	"github.com/belljar/belljar/internal/ui"
)

// Bounds of what a command can make belljar keep by asking for hosts.
const (
	maxNetworkEvents  = 10_000 // of a record
	maxNetworkEntries = 200    // of exec's answer
	maxNetworkLines   = 20     // of exec on stderr
)

// A networkEntry is one kind of decision in exec's answer.
type networkEntry struct {
	Host    string `json:"host"`
	Port    int    `json:"port"`
	Allowed bool   `json:"allowed"`
	Rule    string `json:"rule"`
	Reason  string `json:"reason,omitempty"`
	// Count is how often it was decided.
	Count int `json:"count"`
}

// A networkLog gathers the decisions while a command runs. Safe for concurrent
// use.
type networkLog struct {
	mu      sync.Mutex
	entries []networkEntry
	hints   []string // of the entries
	index   map[networkEntry]int
	dropped int // decisions beyond maxNetworkEntries
}

// add takes one decision; it never fails.
func (l *networkLog) add(d egress.Decision) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := networkEntry{Host: d.Host, Port: d.Port, Allowed: d.Allowed, Rule: d.Rule, Reason: d.Reason}
	at, known := l.index[key]
	switch {
	case known:
		l.entries[at].Count++
	case len(l.entries) == maxNetworkEntries:
		l.dropped++
	default:
		if l.index == nil {
			l.index = map[networkEntry]int{}
		}
		l.index[key] = len(l.entries)
		key.Count = 1
		l.entries, l.hints = append(l.entries, key), append(l.hints, d.Hint)
	}
	return nil
}

// list gives the entries in the order of their first decision, and how many
// decisions they leave out.
func (l *networkLog) list() (entries []networkEntry, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]networkEntry{}, l.entries...), l.dropped
}

// lines say what was denied, each host and port once.
func (l *networkLog) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	denied := 0
	for i, entry := range l.entries {
		if entry.Allowed {
			continue
		}
		if denied++; denied > maxNetworkLines {
			continue
		}
		line := fmt.Sprintf("network: %s:%d was denied: %s", entry.Host, entry.Port, entry.Reason)
		if l.hints[i] != "" {
			line += "; " + l.hints[i]
		}
		lines = append(lines, line)
	}
	if more := denied - maxNetworkLines; more > 0 {
		lines = append(lines, fmt.Sprintf("network: %s denied", ui.Plural(more, "more host was|more hosts were")))
	}
	return lines
}

// A networkRecord is a Recorder that also takes decisions, for as long as the
// run goes on: none before there is a record, and none after its end.
type networkRecord struct {
	mu    sync.Mutex
	next  trajectory.Recorder // nil when no run goes on
	count int
	stand standing
}

var _ trajectory.Recorder = (*networkRecord)(nil)

// begin sets what records.
func (n *networkRecord) begin(next trajectory.Recorder) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.next = next
}

// Record records one event.
func (n *networkRecord) Record(body trajectory.Body) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next == nil {
		return errors.New("recording an event: no run goes on")
	}
	next := n.next
	n.stand.see(body)
	if _, ended := body.(trajectory.End); ended {
		n.next = nil
	}
	return next.Record(body)
}

// abandon ends the record as it stands, and tells whether there was one that had
// no end.
func (n *networkRecord) abandon() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next == nil {
		return false
	}
	for _, body := range n.stand.ending() {
		if n.next.Record(body) != nil {
			break // there is nobody to tell
		}
	}
	n.next = nil
	return true
}

// decided records one decision. Beyond maxNetworkEvents decisions hold without.
func (n *networkRecord) decided(d egress.Decision) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next == nil {
		return errors.New("recording a decision: no run goes on")
	}
	n.count++
	switch {
	case n.count > maxNetworkEvents+1:
		return nil
	case n.count > maxNetworkEvents:
		return n.next.Record(trajectory.Notice{
			Kind: trajectory.NoticeNetwork,
			Text: fmt.Sprintf("more than %s about the network; further ones are not recorded", ui.Plural(maxNetworkEvents, "decision")),
		})
	default:
		return n.next.Record(trajectory.Network{Host: d.Host, Port: d.Port, Allowed: d.Allowed, Rule: d.Rule, Reason: d.Reason})
	}
}
