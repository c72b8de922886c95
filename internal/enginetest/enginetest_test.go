package enginetest

import "testing"

func TestModeOf(t *testing.T) {
	for _, test := range []struct {
		name, value string
		want        mode
		bad         bool
	}{
		{"unset", "", auto, false},
		{"auto", "auto", auto, false},
		{"require", "require", require, false},
		{"skip", "skip", skip, false},
		{"typing mistake", "requires", "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := modeOf(test.value)
			if got != test.want || (err != nil) != test.bad {
				t.Errorf("modeOf(%q) = %q, %v", test.value, got, err)
			}
		})
	}
}
