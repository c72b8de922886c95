package main

import (
	"strings"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
)

func TestParseSize(t *testing.T) {
	for _, test := range []struct {
		in   string
		want int64
	}{
		{"512m", 512 << 20}, {"2g", 2 << 30}, {"1.5GiB", 3 << 29}, {"1048576", 1 << 20}, {"64K", 64 << 10},
		{"2 GB", 2 << 30}, {"300b", 300}, {"1TiB", 1 << 40}, {" 1mib ", 1 << 20},
	} {
		t.Run(test.in, func(t *testing.T) {
			if got, err := parseSize(test.in); err != nil || got != test.want {
				t.Errorf("parseSize(%q) = %d, %v, want %d", test.in, got, err, test.want)
			}
		})
	}
	for _, bad := range []string{"", "m", "-1", "1.2.3", "512mm", "0", "1e3", "nan", "inf", "0x10", "9999999t", "½g", "1 2"} {
		t.Run("bad "+bad, func(t *testing.T) {
			got, err := parseSize(bad)
			if err == nil || !strings.Contains(err.Error(), "512m") {
				t.Errorf("parseSize(%q) = %d, %v; want an error that says what is accepted", bad, got, err)
			}
		})
	}
}

func FuzzParseSize(f *testing.F) {
	f.Add("1.5GiB")
	f.Add("-0b")
	f.Fuzz(func(t *testing.T, text string) {
		if bytes, err := parseSize(text); err == nil && bytes < 1 {
			t.Errorf("parseSize(%q) = %d", text, bytes)
		}
	})
}

func TestDiskValue(t *testing.T) {
	for _, test := range []struct {
		in    string
		bytes int64
		shown string
	}{
		{"none", sandbox.NoLimit, "none"}, {"1m", 1 << 20, "1048576"}, {"20g", 20 << 30, "21474836480"},
	} {
		var bytes int64
		value := diskValue{&bytes}
		if err := value.Set(test.in); err != nil || bytes != test.bytes || value.String() != test.shown {
			t.Errorf("%q is %d, shown as %q, error %v; want %d, %q", test.in, bytes, value.String(), err, test.bytes, test.shown)
		}
	}
	for _, bad := range []string{"", "0", "-1", "1k", "no"} {
		bytes := int64(5)
		if err := (diskValue{&bytes}).Set(bad); err == nil || bytes != 5 {
			t.Errorf("%q was taken as %d", bad, bytes)
		}
	}
}

func TestDurationValue(t *testing.T) {
	for _, test := range []struct {
		in   string
		want time.Duration
	}{
		{"2s", 2 * time.Second}, {"1m30s", 90 * time.Second}, {"90", 90 * time.Second}, {"0.5", 500 * time.Millisecond}, {"250ms", 250 * time.Millisecond},
	} {
		t.Run(test.in, func(t *testing.T) {
			var got time.Duration
			if err := (durationValue{&got}).Set(test.in); err != nil || got != test.want {
				t.Errorf("%q gives %v, %v, want %v", test.in, got, err, test.want)
			}
		})
	}
	for _, bad := range []string{"", "0", "-1", "-2s", "0s", "x", "1h1", "nan", "inf", "1e300"} {
		t.Run("bad "+bad, func(t *testing.T) {
			got := time.Minute
			if err := (durationValue{&got}).Set(bad); err == nil || !strings.Contains(err.Error(), "1m30s") {
				t.Errorf("%q gives %v, %v; want an error that says what is accepted", bad, got, err)
			}
			if got != time.Minute {
				t.Errorf("a bad value changed the setting to %v", got)
			}
		})
	}
}

func TestNumberValue(t *testing.T) {
	for _, test := range []struct {
		name, in string
		whole    bool
		least    float64
		want     float64
		bad      bool
	}{
		{name: "whole", in: "64", whole: true, least: 48, want: 64},
		{name: "fraction", in: "1.5", least: 0.01, want: 1.5},
		{name: "too small", in: "47", whole: true, least: 48, bad: true},
		{name: "fraction of a count", in: "64.5", whole: true, bad: true},
		{name: "zero", in: "0", least: 0.01, bad: true},
		{name: "negative", in: "-2", least: 0.01, bad: true},
		{name: "not a number", in: "nan", bad: true},
		{name: "no end", in: "inf", bad: true},
		{name: "word", in: "two", bad: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got float64
			err := numberValue{number: &got, whole: test.whole, least: test.least}.Set(test.in)
			if (err != nil) != test.bad || got != test.want {
				t.Errorf("%q gives %v, %v", test.in, got, err)
			}
		})
	}
}
