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

// Bounds of what a command can make a record hold by asking for hosts. What was
// allowed has bounds of its own, so that no denials can hide it.
const (
	maxDeniedEvents   = 10_000
	maxAllowedEvents  = 10_000 // then the first to each host and port
	maxAllowedTargets = 20_000 // hosts and ports
	maxUnreached      = 200    // hosts and ports
)

// A networkRecord is a Recorder that also takes decisions, for as long as the
// run goes on: none before there is a record, and none after its end.
type networkRecord struct {
	mu   sync.Mutex
	next trajectory.Recorder // nil when no run goes on
	// denied and allowed count decisions.
	denied, allowed int
	// seen are the connections that were allowed, and rules of which no further
	// ones are recorded, with no host.
	seen map[trajectory.Network]bool
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

// decided records one decision. Beyond its bounds a decision holds without.
func (n *networkRecord) decided(d egress.Decision) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next == nil {
		return errors.New("recording a decision: no run goes on")
	}
	event := trajectory.Network{Host: d.Host, Port: d.Port, Allowed: d.Allowed, Rule: d.Rule, Reason: d.Reason}
	if d.Allowed {
		return n.allow(event)
	}
	n.denied++
	switch {
	case n.denied > maxDeniedEvents+1:
		return nil
	case n.denied > maxDeniedEvents:
		return n.notice("more than %s by the network's rules; further ones are not recorded", ui.Plural(maxDeniedEvents, "denial"))
	default:
		return n.next.Record(event)
	}
}

// allow records what was allowed: every connection of the first many, then the
// first to each host and port, then one notice for each rule. The user gives
// the rules, so whatever asks, no rule that was used stays unnamed.
func (n *networkRecord) allow(event trajectory.Network) error {
	if n.seen == nil {
		n.seen = map[trajectory.Network]bool{}
	}
	known := n.seen[event]
	n.allowed++
	switch {
	case n.allowed == maxAllowedEvents+1:
		if err := n.notice("more than %s; further ones are recorded with the first to each host and port", ui.Plural(maxAllowedEvents, "allowed connection")); err != nil {
			return err
		}
		fallthrough
	case n.allowed > maxAllowedEvents:
		if known {
			return nil
		}
	}
	if len(n.seen) < maxAllowedTargets || known {
		n.seen[event] = true
		return n.next.Record(event)
	}
	rest := trajectory.Network{Rule: event.Rule}
	if n.seen[rest] {
		return nil
	}
	n.seen[rest] = true
	return n.notice("further hosts that the rule %s allows are not recorded", event.Rule)
}

// notice records words about the network.
func (n *networkRecord) notice(format string, args ...any) error {
	return n.next.Record(trajectory.Notice{Kind: trajectory.NoticeNetwork, Text: fmt.Sprintf(format, args...)})
}

// failed records what could not be reached of what was allowed, each host and
// port once.
func (n *networkRecord) failed(host string, port int, reason string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := net.JoinHostPort(host, strconv.Itoa(port))
	if n.next == nil || n.unreached[key] || len(n.unreached) == maxUnreached {
		return
	}
	if n.unreached == nil {
		n.unreached = map[string]bool{}
	}
	n.unreached[key] = true
	// A record that cannot be written ends the run at its next event.
	_ = n.notice("%s", unreached(host, port, ui.Line(reason)))
}
