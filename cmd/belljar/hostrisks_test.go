package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belljar/belljar/internal/tripwire"
	"github.com/belljar/belljar/sandbox"
)

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
	if lines := (riskTeller{folder: "/w"}).lines(tripwire.Report{}); lines != nil {
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

// An unending is a sandbox that cannot be ended.
type unending struct {
	sandbox.Sandbox
	err error
}

func (u unending) Close() error { return u.err }

// TestRisksOfAlive: where the sandbox may not be gone, that comes with what was
// seen, and no command is given.
func TestRisksOfAlive(t *testing.T) {
	for name, ended := range map[string]error{"gone": nil, "perhaps not": errors.New("the engine does not answer")} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			wire, err := tripwire.Set(dir, tripwire.Options{})
			if err != nil {
				t.Fatal(err)
			}
			writeAt(t, filepath.Join(dir, ".git/commondir"), "x")
			report, alive, err := (&jar{Sandbox: unending{err: ended}, wire: wire}).risks()
			if err != nil || alive != (ended != nil) {
				t.Fatalf("alive %v, %v; want %v", alive, err, ended != nil)
			}
			text := strings.Join((riskTeller{folder: dir, alive: alive}).lines(report), "\n")
			said := strings.Contains(text, "the sandbox may not have ended, so that files may change after the look: the engine does not answer")
			if said != alive || strings.Contains(text, ": rm -- ") == alive {
				t.Errorf("lines = %s; want them to say that it may be alive: %v", text, alive)
			}
			if !strings.Contains(text, gitAdvice) || !strings.Contains(text, "added .git/commondir") {
				t.Errorf("lines = %s; want the change and what to do", text)
			}
		})
	}
}
