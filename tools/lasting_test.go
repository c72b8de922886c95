package tools_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/tools"
)

// lasts is what two results have in common if they are the same.
func lasts(res tools.Result) string { return cmp.Or(res.Lasting, res.Parts[0].Text) }

// A numbered shelf has another name than others.
type numbered struct {
	shelf
	number int
}

func (s *numbered) Kept() tools.Kept {
	kept := s.shelf.Kept()
	kept.Path += fmt.Sprint(s.number)
	return kept
}

// TestLasting: what belljar adds to an output is the same for a command that
// came to the same, and everything else is not.
func TestLasting(t *testing.T) {
	process := func(pid int) []sandbox.Process {
		return []sandbox.Process{{PID: pid, Name: []string{"sh", "sleep"}[pid%2]}}
	}
	ends := func(status sandbox.Status, change func(n int, r *sandbox.Result)) func(int, io.Writer) sandbox.Result {
		return func(n int, _ io.Writer) sandbox.Result {
			res := sandbox.Result{Status: status, Dir: "/workspace"}
			change(n, &res)
			return res
		}
	}
	for name, test := range map[string]struct {
		run  func(n int, out io.Writer) sandbox.Result
		same bool
	}{
		"left":     {ends(sandbox.Exited, func(n int, r *sandbox.Result) { r.Left, r.LeftCount = process(n), 1 }), true},
		"more":     {ends(sandbox.Exited, func(n int, r *sandbox.Result) { r.Left, r.LeftCount = process(n), n }), false},
		"ended":    {ends(sandbox.TimedOut, func(n int, r *sandbox.Result) { r.Killed, r.KilledCount = process(n), 1 }), true},
		"more of":  {ends(sandbox.TimedOut, func(n int, r *sandbox.Result) { r.Killed, r.KilledCount = process(n), n }), true},
		"memory":   {ends(sandbox.OutOfMemory, func(n int, r *sandbox.Result) { r.OOMKills = n }), true},
		"forks":    {ends(sandbox.PidsLimit, func(n int, r *sandbox.Result) { r.ForkFailures = n }), true},
		"notices":  {ends(sandbox.Exited, func(n int, r *sandbox.Result) { r.OOMKills, r.ForkFailures = n, n }), true},
		"code":     {ends(sandbox.Exited, func(n int, r *sandbox.Result) { r.ExitCode = &n }), false},
		"reason":   {ends(sandbox.Canceled, func(n int, r *sandbox.Result) { r.Reason = fmt.Sprint(n) }), false},
		"next dir": {ends(sandbox.Exited, func(n int, r *sandbox.Result) { r.Dir = fmt.Sprint("/workspace/", n) }), false},
		"output": {func(n int, out io.Writer) sandbox.Result {
			fmt.Fprintln(out, "(pid", n)
			return exited(0)
		}, false},
		"a long output": {func(_ int, out io.Writer) sandbox.Result {
			io.WriteString(out, strings.Repeat("x\n", tools.ShownOutput))
			return exited(0)
		}, true},
		"a long output that changed in the middle": {func(n int, out io.Writer) sandbox.Result {
			io.WriteString(out, strings.Repeat("x\n", tools.ShownOutput)+strings.Repeat("y", n)+strings.Repeat("x\n", tools.ShownOutput))
			return exited(0)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			n := 1
			bash, err := tools.NewBash(box{func(_ context.Context, cmd sandbox.Command) (sandbox.Result, error) {
				n++
				return test.run(n, cmd.Stdout), nil
			}}, tools.BashOptions{})
			if err != nil {
				t.Fatal(err)
			}
			call := func() tools.Result {
				res, err := bash.ExecuteTo(t.Context(), json.RawMessage(`{"command":"x"}`), &numbered{number: n})
				if err != nil {
					t.Fatal(err)
				}
				return res
			}
			first, second := call(), call()
			if first.Parts[0].Text == second.Parts[0].Text {
				t.Errorf("nothing is new: %s", first.Parts[0].Text)
			}
			if same := lasts(first) == lasts(second); same != test.same {
				t.Errorf("the same is %v, want %v:\n%s\n%s", same, test.same, lasts(first), lasts(second))
			}
		})
	}
}

// TestLastingOfJobs: that a job was started, and that it still runs, is the
// same; what it wrote, and that half a minute has gone by, is news.
func TestLastingOfJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		more := make(chan string)
		jobs := tools.NewJobs(box{func(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) {
			for {
				select {
				case text := <-more:
					io.WriteString(cmd.Stdout, text)
				case <-ctx.Done():
					return sandbox.Result{Status: sandbox.Canceled}, nil
				}
			}
		}}, tools.JobsOptions{})
		defer jobs.Close()
		bash, err := tools.NewBash(box{}, tools.BashOptions{Jobs: jobs})
		if err != nil {
			t.Fatal(err)
		}
		call := func(tool tools.Tool, args string) string {
			t.Helper()
			res, err := tool.Execute(t.Context(), json.RawMessage(args))
			if err != nil || res.IsError {
				t.Fatalf("%+v and error %v", res, err)
			}
			return lasts(res)
		}
		first := call(bash, `{"command":"x","background":true}`)
		look := func() string { return call(tools.NewBashOutput(jobs), `{"job":"job1"}`) }
		silent := look()
		time.Sleep(time.Second)
		if again := look(); again != silent {
			t.Errorf("after a second a silent job is news: %q and %q", silent, again)
		}
		time.Sleep(time.Minute)
		if later := look(); later == silent {
			t.Errorf("after a minute it is no news that a job still runs: %q", later)
		}
		more <- "1%"
		synctest.Wait()
		if spoke := look(); !strings.Contains(spoke, "1%") {
			t.Errorf("what a job wrote is missing: %q", spoke)
		}
		if second := call(bash, `{"command":"x","background":true}`); second != first {
			t.Errorf("the same job, started again, is another one: %q and %q", first, second)
		}
		if third := call(bash, `{"command":"y","background":true}`); third == first {
			t.Errorf("another job is the same: %q", third)
		}
	})
}
