package main

import (
	"fmt"
	"io"
	"sync"

	"github.com/belljar/belljar/agent/trajectory"
)

// A mirror records events and then copies what has reached the record to a
// writer, so that both hold the same bytes and nothing is shown that is not on
// record. Safe for concurrent use.
type mirror struct {
	mu     sync.Mutex
	record trajectory.Recorder
	file   io.Reader // reads the record from where the last copy ended
	out    io.Writer
}

var _ trajectory.Recorder = (*mirror)(nil)

// Record records one event and copies its line.
func (m *mirror) Record(body trajectory.Body) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.record.Record(body); err != nil {
		return err
	}
	if _, err := io.Copy(m.out, m.file); err != nil {
		return fmt.Errorf("printing an event: %w", err)
	}
	return nil
}
