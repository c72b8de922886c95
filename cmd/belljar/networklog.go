package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
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
	// Failed is how often the host was allowed and could not be reached, and
	// Failure says why, the last time.
	Failed  int    `json:"failed,omitempty"`
	Failure string `json:"failure,omitempty"`
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

var _ networkWatcher = (*networkLog)(nil)

// decided takes one decision; it never fails.
func (l *networkLog) decided(d egress.Decision) error {
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

// failed takes what could not be reached of what was allowed.
func (l *networkLog) failed(host string, port int, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.entries {
		if entry := &l.entries[i]; entry.Allowed && entry.Host == host && entry.Port == port {
			entry.Failed++
			entry.Failure = ui.Line(reason)
			return
		}
	}
}

// list gives the entries in the order of their first decision, and how many
// decisions they leave out.
func (l *networkLog) list() (entries []networkEntry, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]networkEntry{}, l.entries...), l.dropped
}

// lines say what was denied or could not be reached, each host and port once.
func (l *networkLog) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	told := 0
	for i, entry := range l.entries {
		if entry.Allowed && entry.Failed == 0 {
			continue
		}
		if told++; told > maxNetworkLines {
			continue
		}
		line := fmt.Sprintf("network: %s:%d was denied: %s", entry.Host, entry.Port, entry.Reason)
		switch {
		case entry.Allowed:
			line = unreached(entry.Host, entry.Port, entry.Failure)
		case l.hints[i] != "":
			line += "; " + l.hints[i]
		}
		lines = append(lines, line)
	}
	if more := told - maxNetworkLines; more > 0 {
		lines = append(lines, fmt.Sprintf("network: %s denied or not reached", ui.Plural(more, "more host was|more hosts were")))
	}
	return lines
}

// unreached says that an allowed host was not there.
func unreached(host string, port int, reason string) string {
	return fmt.Sprintf("network: %s:%d was allowed and could not be reached: %s", host, port, reason)
}

// A networkRecord is a Recorder that also takes decisions, for as long as the
// run goes on: none before there is a record, and none after its end.
type networkRecord struct {
	mu    sync.Mutex
	next  trajectory.Recorder // nil when no run goes on
	count int
	// unreached are the hosts and ports that were told as not reached.
	unreached map[string]bool
	stand     standing
}

var (
	_ trajectory.Recorder = (*networkRecord)(nil)
	_ networkWatcher      = (*networkRecord)(nil)
)

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

// failed records what could not be reached of what was allowed, each host and
// port once.
func (n *networkRecord) failed(host string, port int, reason string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := net.JoinHostPort(host, strconv.Itoa(port))
	if n.next == nil || n.unreached[key] || len(n.unreached) == maxNetworkEntries {
		return
	}
	if n.unreached == nil {
		n.unreached = map[string]bool{}
	}
	n.unreached[key] = true
	// A record that cannot be written ends the run at its next event.
	_ = n.next.Record(trajectory.Notice{Kind: trajectory.NoticeNetwork, Text: unreached(host, port, ui.Line(reason))})
}
