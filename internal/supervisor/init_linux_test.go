package supervisor

import (
	"testing"
	"time"
)

func TestSilence(t *testing.T) {
	const limit = 10 * time.Second
	repeat := func(step time.Duration, n int) (steps []time.Duration) {
		for range n {
			steps = append(steps, step)
		}
		return steps
	}
	tests := []struct {
		name  string
		steps []time.Duration // 0 is a byte of the owner
		over  bool
	}{
		{"nothing at all", nil, false},
		{"silent for the limit", repeat(leaseStep, 20), true},
		{"silent for a little less", repeat(leaseStep, 19), false},
		{"interrupted often", repeat(time.Millisecond, 9999), false},
		{"interrupted often, for the limit", repeat(time.Millisecond, 10_000), true},
		{"one jump ahead", []time.Duration{8 * time.Hour}, false},
		{"a clock that goes back", []time.Duration{-8 * time.Hour}, false},
		{"a jump after most of the time", append(repeat(leaseStep, 17), 8*time.Hour), false},
		{"heard in between", append(append(repeat(leaseStep, 19), 0), repeat(leaseStep, 19)...), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, over := silence{limit: limit}, false
			for _, step := range test.steps {
				if step == 0 {
					s.end()
				} else {
					over = s.add(step)
				}
			}
			if over != test.over {
				t.Errorf("over = %v after %d steps, want %v", over, len(test.steps), test.over)
			}
		})
	}
}
