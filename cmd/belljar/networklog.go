package main

import (
	"fmt"
	"sync"

	"github.com/belljar/belljar/internal/egress"
	"github.com/belljar/belljar/internal/ui"
)

// Bounds of what a command can make belljar keep by asking for hosts. What was
// allowed has bounds of its own, so that no denials can hide it.
const (
	maxDeniedEntries  = 200   // of exec's answer
	maxAllowedEntries = 1_000 // of exec's answer; then those of a rule are one
	maxNetworkLines   = 20    // of exec on stderr
)

// A networkEntry is one kind of decision in exec's answer.
type networkEntry struct {
	// Host and Port are as a Decision has them, or "" and 0 for all further
	// hosts that a rule allowed.
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
	allowed int // entries of what was allowed
	dropped int // denials beyond maxDeniedEntries
}

var _ networkWatcher = (*networkLog)(nil)

// decided takes one decision; it never fails.
func (l *networkLog) decided(d egress.Decision) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := networkEntry{Host: d.Host, Port: d.Port, Allowed: d.Allowed, Rule: d.Rule, Reason: d.Reason}
	if _, known := l.index[key]; !known && l.full(d.Allowed) {
		if !d.Allowed {
			l.dropped++
			return nil
		}
		key = networkEntry{Allowed: true, Rule: d.Rule} // rules are as many as the user has given
	}
	l.count(key, d.Hint)
	return nil
}

// full tells whether nothing further is kept for itself.
func (l *networkLog) full(allowed bool) bool {
	if allowed {
		return l.allowed >= maxAllowedEntries
	}
	return len(l.entries)-l.allowed >= maxDeniedEntries
}

// count counts a decision, in an entry of its own where it is the first.
func (l *networkLog) count(key networkEntry, hint string) {
	at, known := l.index[key]
	if !known {
		if l.index == nil {
			l.index = map[networkEntry]int{}
		}
		at = len(l.entries)
		l.index[key] = at
		l.entries, l.hints = append(l.entries, key), append(l.hints, hint)
		if key.Allowed {
			l.allowed++
		}
	}
	l.entries[at].Count++
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
		case entry.Port == 0:
			line = fmt.Sprintf("network: %q was denied: %s", entry.Host, entry.Reason)
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
