package ui_test

import (
	"testing"
	"time"

	"github.com/belljar/belljar/internal/ui"
)

func TestClip(t *testing.T) {
	for _, test := range []struct {
		name, in string
		width    int
		want     string
	}{
		{"fits", "abc", 3, "abc"},
		{"cut", "abcdef", 4, "abc…"},
		{"wide fits", "中文", 4, "中文"},
		{"wide never cut in half", "中文中文", 4, "中…"},
		{"no width", "abcdef", 0, "abcdef"},
		{"emoji", "a😀b😀c", 5, "a😀b…"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := ui.Clip(test.in, test.width); got != test.want {
				t.Errorf("Clip(%q, %d) = %q, want %q", test.in, test.width, got, test.want)
			}
		})
	}
}

func TestDuration(t *testing.T) {
	for in, want := range map[time.Duration]string{
		0:                           "0 ms",
		45 * time.Millisecond:       "45 ms",
		1500 * time.Millisecond:     "1.5 s",
		59960 * time.Millisecond:    "1m 00s",
		123 * time.Second:           "2m 03s",
		2*time.Hour + 5*time.Minute: "2h 05m",
	} {
		if got := ui.Duration(in); got != want {
			t.Errorf("Duration(%v) = %q, want %q", in, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	for in, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 2 << 30: "2 GiB", 512 << 20: "512 MiB",
	} {
		if got := ui.Size(in); got != want {
			t.Errorf("Size(%d) = %q, want %q", in, got, want)
		}
	}
}

func TestNumberAndPlural(t *testing.T) {
	for got, want := range map[string]string{
		ui.Number(0):                         "0",
		ui.Number(999):                       "999",
		ui.Number(1234567):                   "1,234,567",
		ui.Number(-1234):                     "-1,234",
		ui.Plural(1, "turn"):                 "1 turn",
		ui.Plural(2, "turn"):                 "2 turns",
		ui.Plural(1, "process|processes"):    "1 process",
		ui.Plural(1200, "process|processes"): "1,200 processes",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCost(t *testing.T) {
	for _, test := range []struct {
		usd       *float64
		estimated bool
		want      string
	}{
		{nil, false, "unknown"}, {nil, true, "unknown"}, {new(0.0), true, "$0"},
		{new(0.00001), false, "<$0.0001"}, {new(0.00001), true, "<$0.0001"},
		{new(0.0123), false, "$0.0123"}, {new(0.1234), false, "$0.12"}, {new(1234.5), true, "~$1234.50"},
	} {
		if got := ui.Cost(test.usd, test.estimated); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
