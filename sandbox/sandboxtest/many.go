package sandboxtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/belljar/belljar/sandbox"
)

// manyTests check that commands do not get into each other's way.
func manyTests() []test {
	return []test{
		{"OneAfterAnother", func(t *testing.T, s *suite) { testMany(t, s, 1) }},
		{"SideBySide", func(t *testing.T, s *suite) { testMany(t, s, 8) }},
		{"Burst", testBurst},
	}
}

// job is a command and what it must give.
type job struct {
	script         string
	code           int
	stdout, stderr string
}

// newJobs makes commands with random codes and output.
func newJobs(n int, random *rand.Rand) []job {
	text := func() string {
		const letters = "abcdefghijklmnopqrstuvwxyz \n"
		var b strings.Builder
		for range random.IntN(300) {
			b.WriteByte(letters[random.IntN(len(letters))])
		}
		return b.String()
	}
	jobs := make([]job, n)
	for i := range jobs {
		j := job{code: random.IntN(256), stdout: fmt.Sprint(i, ":", text()), stderr: fmt.Sprint(i, "!", text())}
		j.script = fmt.Sprintf("printf %%s '%s'; printf %%s '%s' >&2; exit %d", j.stdout, j.stderr, j.code)
		jobs[i] = j
	}
	return jobs
}

func testMany(t *testing.T, s *suite, workers int) {
	b := s.shared(t)
	count := 500
	if testing.Short() {
		count = 50
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	jobs := newJobs(count, rand.New(rand.NewPCG(seed, 0)))
	work := make(chan job)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for j := range work {
				var stdout, stderr buffer
				result, err := b.Exec(t.Context(), sandbox.Command{Script: j.script, Stdout: &stdout, Stderr: &stderr})
				if err != nil {
					t.Errorf("Exec: %v", err)
					continue
				}
				if result.Status != sandbox.Exited || *result.ExitCode != j.code || stdout.String() != j.stdout || stderr.String() != j.stderr {
					t.Errorf("got %s with %q and %q, want exited %d with %q and %q",
						show(result), stdout.String(), stderr.String(), j.code, j.stdout, j.stderr)
				}
			}
		})
	}
	for _, j := range jobs {
		work <- j
	}
	close(work)
	group.Wait()
}

func testBurst(t *testing.T, s *suite) {
	b := s.shared(t)
	count := 200
	if testing.Short() {
		count = 30
	}
	var group sync.WaitGroup
	for range count {
		group.Go(func() {
			result, err := b.Exec(t.Context(), sandbox.Command{Script: "true"})
			if err != nil || result.Status != sandbox.Exited || *result.ExitCode != 0 {
				t.Errorf("got %s, error %v, want exited 0", show(result), err)
			}
		})
	}
	within(t, "a burst of commands", group.Wait)
}
