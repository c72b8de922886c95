package docker

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestPatience(t *testing.T) {
	for _, test := range []struct {
		name          string
		timeout, want time.Duration
	}{
		{"no timeout", 0, 2 * time.Minute},
		{"a short one", time.Second, 30 * time.Second},
		{"one between", time.Minute, time.Minute},
		{"a long one", time.Hour, 2 * time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := (patience{}).of(test.timeout); got != test.want {
				t.Errorf("of(%v) = %v, want %v", test.timeout, got, test.want)
			}
		})
	}
}

// TestPatienceRunsOut counts no time in which a start waits for its place.
func TestPatienceRunsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, start := &box{}, time.Now()
		b.queued.Add(1)
		time.AfterFunc(time.Hour, func() { b.queued.Add(-1) })
		if !b.runsOut(nil, time.Minute) {
			t.Error("it was called off")
		}
		if took := time.Since(start); took < time.Hour+59*time.Second || took > time.Hour+61*time.Second {
			t.Errorf("it ran out after %v, want a minute after the hour in the queue", took)
		}
		stop := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(stop) })
		if b.runsOut(stop, time.Minute) {
			t.Error("it ran out, though the command was taken")
		}
	})
}
