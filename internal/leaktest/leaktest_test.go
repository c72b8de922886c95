package leaktest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// recorder is a test that only notes what it is told.
type recorder struct {
	testing.TB
	cleanups []func()
	errors   []string
}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) finish() string {
	for _, f := range r.cleanups {
		f()
	}
	return strings.Join(r.errors, "\n")
}

// leakedGoroutine says that it runs and then waits to be released.
func leakedGoroutine(running chan<- struct{}, release <-chan struct{}) {
	running <- struct{}{}
	<-release
}

// leak starts a goroutine that ends when release is closed.
func leak(release <-chan struct{}) {
	running := make(chan struct{})
	go leakedGoroutine(running, release)
	<-running
}

func TestGoroutines(t *testing.T) {
	for _, c := range []struct {
		name         string
		slack, count int
		wantError    bool
	}{
		{"none", 0, 0, false},
		{"one", 0, 1, true},
		{"within the slack", 2, 2, false},
		{"over the slack", 2, 3, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			release := make(chan struct{})
			defer close(release)
			r := &recorder{TB: t}
			check(r, c.slack, 10*time.Millisecond)
			for range c.count {
				leak(release)
			}
			got := r.finish()
			if c.wantError != (got != "") {
				t.Errorf("errors = %q, want some: %v", got, c.wantError)
			}
			if c.wantError && !strings.Contains(got, "leakedGoroutine") {
				t.Errorf("errors = %q, want the stack of the goroutine", got)
			}
		})
	}
}

func TestGoroutineThatStillEnds(t *testing.T) {
	release := make(chan struct{})
	r := &recorder{TB: t}
	Check(r, 0)
	leak(release)
	r.cleanups = append([]func(){func() { close(release) }}, r.cleanups...)
	if got := r.finish(); got != "" {
		t.Errorf("errors = %q, want none", got)
	}
}

func TestFiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("open files are listed on Linux only")
		return
	}
	r := &recorder{TB: t}
	check(r, 0, 10*time.Millisecond)
	name := filepath.Join(t.TempDir(), "left-open")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	got := r.finish()
	f.Close()
	if !strings.Contains(got, name) {
		t.Errorf("errors = %q, want the name of the open file", got)
	}

	r = &recorder{TB: t}
	check(r, 0, 10*time.Millisecond)
	if f, err = os.Create(name); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if got := r.finish(); got != "" {
		t.Errorf("errors = %q after the file was closed, want none", got)
	}
}
