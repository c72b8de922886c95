package main

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
)

// TestWaitingTellsAReasonOnce asserts that a long reason is not told again and
// again, and that another one, or that of another request, is told.
func TestWaitingTellsAReasonOnce(t *testing.T) {
	busy, cut := errors.New("the server is busy"), errors.New("the answer was cut")
	record := new(trajectory.Memory)
	j := &job{record: &networkRecord{next: record}}
	for _, wait := range []model.Wait{
		{Attempt: 1, Delay: 900 * time.Millisecond, Err: busy},
		{Attempt: 2, Delay: 2 * time.Second, Err: busy},
		{Attempt: 3, Delay: 4 * time.Second, Err: cut},
		{Attempt: 4, Delay: 8 * time.Second, Err: cut},
		{Attempt: 1, Delay: time.Second, Err: cut},
	} {
		if err := j.waiting(wait); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, body := range record.Bodies() {
		if notice, ok := body.(trajectory.Notice); ok && notice.Kind == trajectory.NoticeRetry {
			got = append(got, notice.Text)
		}
	}
	want := []string{
		"the server is busy; trying again in 0.9 s",
		"still failing the same way; trying again in 2 s",
		"the answer was cut; trying again in 4 s",
		"still failing the same way; trying again in 8 s",
		"the answer was cut; trying again in 1 s",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
