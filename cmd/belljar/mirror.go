package main

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/belljar/belljar/agent/trajectory"
)

// A mirror records events and then copies what has reached the record to a
// writer, so that both hold the same bytes and nothing is shown that is not on
// record. Where they cannot be copied the run is stopped, and goes on record to
// its end. Safe for concurrent use.
type mirror struct {
	stop   context.CancelCauseFunc // of the run
	mu     sync.Mutex
	record trajectory.Recorder
	file   io.Reader // reads the record from where the last copy ended
	out    io.Writer
	err    error // why nothing is copied any more
}

var _ trajectory.Recorder = (*mirror)(nil)

// Record records one event and copies its line.
func (m *mirror) Record(body trajectory.Body) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.record.Record(body); err != nil {
		return err
	}
	if m.err != nil {
		return nil
	}
	if _, err := io.Copy(m.out, m.file); err != nil {
		m.err = fmt.Errorf("printing an event: %w", err)
		m.stop(m.err)
	}
	return nil
}

// failure is why the run was stopped, nil where everything was copied.
func (m *mirror) failure() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}
