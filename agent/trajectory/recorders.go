package trajectory

import (
	"slices"
	"sync"
	"time"
)

// Tee returns a Recorder that hands each event to every one of the recorders,
// in the order given and the same for all. The first failure is returned and
// the recorders after it do not get the event: put the record before the
// screen, so that nothing is shown that is not on record.
func Tee(recorders ...Recorder) Recorder { return &tee{recorders: slices.Clone(recorders)} }

type tee struct {
	mu        sync.Mutex // keeps the order of events the same for all
	recorders []Recorder
}

var _ Recorder = (*tee)(nil)

func (t *tee) Record(body Body) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.recorders {
		if err := r.Record(body); err != nil {
			return err
		}
	}
	return nil
}

// Memory is a Recorder that keeps the events. The zero value is ready.
type Memory struct {
	mu     sync.Mutex
	events []Event
}

var _ Recorder = (*Memory)(nil)

// Record keeps one event; it never fails.
func (m *Memory) Record(body Body) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, Event{
		V: Version, Type: body.eventType(), Time: time.Now().UTC(), Seq: len(m.events) + 1, Body: body,
	})
	return nil
}

// Events returns what was recorded so far, in order.
func (m *Memory) Events() []Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.events)
}

// Bodies returns what was recorded so far without the envelopes.
func (m *Memory) Bodies() []Body {
	m.mu.Lock()
	defer m.mu.Unlock()
	bodies := make([]Body, len(m.events))
	for i, e := range m.events {
		bodies[i] = e.Body
	}
	return bodies
}
