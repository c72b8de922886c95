package main

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/tripwire"
)

func TestRiskLines(t *testing.T) {
	save := func(tripwire.Change) (string, error) { return "/state/originals/1", nil }
	full := func(tripwire.Change) (string, error) { return "", errors.New("the disk is full") }
	for _, tt := range []struct {
		name   string
		save   func(tripwire.Change) (string, error)
		change tripwire.Change
		want   string
	}{
		{"added", save, tripwire.Change{Path: "a b/.envrc", Kind: tripwire.Added},
			`added "a b/.envrc" (x); to remove it: rm -- '/w/a b/.envrc'`},
		{"obeyed now", save, tripwire.Change{Path: "tools/hooks/x", Kind: tripwire.Obeyed},
			`obeyed tools/hooks/x (x); what makes it so is new or changed, and the file itself may have been there before`},
		{"changed and kept", save, tripwire.Change{Path: ".envrc", Kind: tripwire.Changed, Original: []byte{}},
			`changed .envrc (x); to put it back: rm -rf -- '/w/.envrc' && cp -p -- '/state/originals/1' '/w/.envrc'`},
		{"not to be kept", full, tripwire.Change{Path: ".envrc", Kind: tripwire.Removed, Original: []byte{}},
			`removed .envrc (x); it could not be kept: the disk is full`},
		{"no session", nil, tripwire.Change{Path: ".envrc", Kind: tripwire.Changed, Original: []byte{}},
			`changed .envrc (x); if git knows the file: git -C '/w' -c core.hooksPath=/dev/null checkout -- '.envrc'`},
		{"a repository without a session", nil, tripwire.Change{Path: "sub/.git/config", Kind: tripwire.Changed},
			`changed sub/.git/config (x); to put it back: only from a copy of your own`},
		{"mode", save, tripwire.Change{Path: ".envrc", Kind: tripwire.Mode, Was: 0o640},
			`mode .envrc (x); to put it back: chmod 640 -- '/w/.envrc'`},
		{"a name that is a command", save, tripwire.Change{Path: "'; rm x '/.envrc", Kind: tripwire.Added},
			`added "'; rm x '/.envrc" (x); to remove it: rm -- '/w/'\''; rm x '\''/.envrc'`},
		{"a name that moves the cursor", save, tripwire.Change{Path: "\x1b[A\n/.envrc", Kind: tripwire.Added},
			`added "\x1b[A\n/.envrc" (x)`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.change.What = "x"
			teller := riskTeller{folder: "/w", save: tt.save}
			lines := teller.lines(tripwire.Report{Changes: []tripwire.Change{tt.change}})
			if len(lines) != 2 || !strings.HasPrefix(lines[0], "1 file that programs on this machine run or obey changed") {
				t.Fatalf("lines = %q, want a heading and one more", lines)
			}
			if diff := cmp.Diff(tt.want, lines[1]); diff != "" {
				t.Errorf("line (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRiskLinesBounded(t *testing.T) {
	changes := make([]tripwire.Change, 1500)
	for i := range changes {
		changes[i] = tripwire.Change{Path: ".envrc", Kind: tripwire.Added, What: "x"}
	}
	report := tripwire.Report{Changes: changes, Gaps: []string{"one"}}
	lines := riskTeller{folder: "/w"}.lines(report)
	if len(lines) != 1+shownRisks+2 || !strings.Contains(lines[1+shownRisks], "1,480 files more") {
		t.Errorf("%d lines, the last of %q; want a bounded list and what is left out", len(lines), lines[len(lines)-2:])
	}
	if object := risksOf(report); len(object.Changed) != jsonRisks || object.Count != 1500 || len(object.Gaps) != 1 {
		t.Errorf("%d of %d, gaps %q; want a bounded list with the count", len(object.Changed), object.Count, object.Gaps)
	}
	if lines := (riskTeller{}).lines(tripwire.Report{}); lines != nil {
		t.Errorf("lines = %q for nothing", lines)
	}
}

// TestTellSlow: what is quick is not talked about.
func TestTellSlow(t *testing.T) {
	for name, test := range map[string]struct {
		takes time.Duration
		told  int
	}{
		"quick": {lookPatience - time.Millisecond, 0},
		"slow":  {lookPatience + time.Millisecond, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told, wrong := 0, errors.New("its error")
				err := tellSlow(lookPatience, func() { told++ }, func() error { time.Sleep(test.takes); return wrong })
				if told != test.told || !errors.Is(err, wrong) {
					t.Errorf("told %d times, error %v; want %d and its error", told, err, test.told)
				}
			})
		})
	}
}
