package search_test

import (
	"context"
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/belljar/belljar/internal/search"
)

// hang is far more than what is bounded takes, on a machine under load too, and
// far less than what is not.
const hang = 30 * time.Second

// ends fails a test whose call does not end.
func ends(t *testing.T, what string, call func()) {
	t.Helper()
	done := make(chan struct{}) // closed when the call has ended
	go func() {
		defer close(done)
		call()
	}()
	select {
	case <-done:
	case <-time.After(hang):
		t.Fatalf("%s does not end", what)
	}
}

// Rules that take long to match end with the search.
func TestWalkHostileRules(t *testing.T) {
	w, dir := newSpace(t)
	put(t, dir, ".gitignore", strings.Repeat(strings.Repeat("*a", 250)+"b\n", 520))
	for i := range 2000 {
		put(t, dir, fmt.Sprintf("%s%d", strings.Repeat("a", 250), i), "")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	ends(t, "the walk", func() {
		l, err := search.Find(ctx, w, search.GlobOptions{Pattern: "*", Limit: 3})
		if err != nil || !l.Stopped {
			t.Errorf("stopped %v, %v", l.Stopped, err)
		}
	})
}

// Rules in many folders take no more memory than a walk may have, and what is
// passed over is told.
func TestWalkManyRules(t *testing.T) {
	w, dir := newSpace(t)
	rules := strings.Repeat(strings.Repeat("[a]", 300)+"\n", 250)
	at := ""
	for range 20 {
		put(t, dir, at+".ignore", rules)
		put(t, dir, at+".gitignore", rules)
		at += "d/"
	}
	put(t, dir, at+"x.go", "")
	l, err := search.Find(t.Context(), w, search.GlobOptions{Pattern: "*.go", Limit: 3})
	if err != nil || l.Total != 1 || l.RulesCut == 0 {
		t.Errorf("%d found, rules of %d files cut, %v", l.Total, l.RulesCut, err)
	}
	if l.Found[0].Path != path.Join(at, "x.go") {
		t.Errorf("found %q", l.Found[0].Path)
	}
}
