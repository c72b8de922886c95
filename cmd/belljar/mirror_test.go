package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/agent/trajectory"
)

func TestMirrorPrintsTheRecordItself(t *testing.T) {
	session, err := trajectory.Create(t.TempDir(), trajectory.Manifest{Task: "t"})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	events, err := session.Events()
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	var out bytes.Buffer
	m := &mirror{record: session.Writer(), file: events, out: &out}
	for _, body := range []trajectory.Body{
		trajectory.Message{Role: "user", Text: "<a> & b"},
		trajectory.End{Stop: "finished"},
	} {
		before := out.Len()
		if err := m.Record(body); err != nil {
			t.Fatal(err)
		}
		if out.Len() == before {
			t.Errorf("%T was not printed when Record returned", body)
		}
	}
	want, err := os.ReadFile(filepath.Join(session.Dir, "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestMirrorShowsNothingThatIsNotOnRecord(t *testing.T) {
	full := errors.New("disk full")
	var out bytes.Buffer
	m := &mirror{record: failing{full}, file: bytes.NewReader([]byte("stale")), out: &out}
	if err := m.Record(trajectory.End{}); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
	if out.Len() != 0 {
		t.Errorf("printed %q", out.String())
	}
}

func TestMirrorStopsTheRunWithItsReader(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	record := &trajectory.Memory{}
	m := &mirror{stop: stop, record: record, file: bytes.NewReader([]byte("line")), out: brokenPipe{}}
	for _, body := range []trajectory.Body{trajectory.Usage{}, trajectory.End{}} {
		if err := m.Record(body); err != nil {
			t.Errorf("%T: %v", body, err)
		}
	}
	if cause := context.Cause(ctx); !errors.Is(cause, io.ErrClosedPipe) || !errors.Is(m.failure(), io.ErrClosedPipe) {
		t.Errorf("cause %v, failure %v", cause, m.failure())
	}
	if count := len(record.Events()); count != 2 {
		t.Errorf("%d events on record, want 2", count)
	}
}

type failing struct{ err error }

func (f failing) Record(trajectory.Body) error { return f.err }

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
