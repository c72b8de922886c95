package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/agent/trajectory"
)

// TestReplaySizes: the sizes of the folders in memory are the recorded ones, unless a
// flag says otherwise, for them or for the memory that they are parts of.
func TestReplaySizes(t *testing.T) {
	var opts replayOptions
	opts.homeSize = 7
	recorded := trajectory.Manifest{Limits: trajectory.Limits{Tmp: 1, Home: 2, Shm: 3}}
	f := opts.settings(recorded)
	if diff := cmp.Diff([]int64{1, 7, 3}, []int64{f.tmpSize, f.homeSize, f.shmSize}); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
	opts.memory = 1 << 30
	if f := opts.settings(recorded); f.tmpSize != 0 || f.homeSize != 7 {
		t.Errorf("of another memory: %d, %d", f.tmpSize, f.homeSize)
	}
}
