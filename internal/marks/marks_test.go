package marks_test

import (
	"testing"

	"github.com/belljar/belljar/internal/marks"
)

func TestMarks(t *testing.T) {
	for _, tt := range []struct {
		name          string
		text          string
		steers, hides bool
	}{
		{"letters", "aé中ש\u0633", false, false},
		{"white space", " \t\n\u00a0\u3000", false, false},
		{"emoji", "😀🏴\U0001f3fd", false, false},
		{"joiners", "\u200c\u200d\u034f", false, false},
		{"variation selectors", "\ufe00\ufe0e\ufe0f\U000e0100", false, false},
		{"where words may break", "\u200b\u00ad\u180e", false, false},
		{"replacement character", "\ufffd\ufffc", false, false},
		{"single marks of direction", "\u200e\u200f\u061c", true, true},
		{"embeddings and overrides", "\u202a\u202b\u202c\u202d\u202e", true, true},
		{"isolates", "\u2066\u2067\u2068\u2069", true, true},
		{"other ends of lines", "\u2028\u2029", true, true},
		{"byte order mark", "\ufeff", false, true},
		{"word joiner and invisible operators", "\u2060\u2061\u2064\u2065", false, true},
		{"deprecated forms", "\u206a\u206f", false, true},
		{"annotations", "\ufff9\ufffb", false, true},
		{"tags", "\U000e0000\U000e0001\U000e0041\U000e007f", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, r := range tt.text {
				if got := marks.Steers(r); got != tt.steers {
					t.Errorf("Steers(%U) = %v", r, got)
				}
				if got := marks.Hides(r); got != tt.hides {
					t.Errorf("Hides(%U) = %v", r, got)
				}
			}
		})
	}
}

func TestFlag(t *testing.T) {
	const scotland = "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"the flag of Scotland", scotland + "x", len(scotland)},
		{"a black flag", "🏴", 0},
		{"a flag that is cut", scotland[:len(scotland)-4], 0},
		{"another text in tags", "🏴\U000e0072\U000e006d\U000e007f", 0},
		{"tags alone", scotland[4:], 0},
		{"nothing", "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := marks.Flag(tt.text); got != tt.want {
				t.Errorf("Flag(%+q) = %d, want %d", tt.text, got, tt.want)
			}
		})
	}
}
