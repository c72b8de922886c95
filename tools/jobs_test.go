package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/leaktest"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/tools"
)

// patience is the time after which something that should have ended hangs.
const patience = time.Minute

// A bench is the tools for jobs over a sandbox of functions: the script of a
// command is the name of the function that runs it.
type bench struct {
	jobs     *tools.Jobs
	registry tools.Registry
}

type function func(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error)

func newBench(t *testing.T, opts tools.JobsOptions, functions map[string]function) *bench {
	t.Helper()
	leaktest.Check(t, 0)
	sb := box{func(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) {
		if f := functions[cmd.Script]; f != nil {
			return f(ctx, cmd)
		}
		return exited(0), nil
	}}
	b := &bench{jobs: tools.NewJobs(sb, opts)}
	t.Cleanup(func() {
		if err := b.jobs.Close(); err != nil {
			t.Error(err)
		}
	})
	bash, err := tools.NewBash(sb, tools.BashOptions{Jobs: b.jobs})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range []tools.Tool{bash, tools.NewBashOutput(b.jobs), tools.NewBashKill(b.jobs)} {
		if err := b.registry.Register(tool); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// call runs a tool with a context that is done when the test hangs.
func (b *bench) call(t *testing.T, name, args string) tools.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	res, err := b.registry.Execute(ctx, name, json.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Fatalf("%s %s has not ended after %v", name, args, patience)
	}
	return res
}

// untilKilled is a command that runs until it is ended.
func untilKilled(ctx context.Context, _ sandbox.Command) (sandbox.Result, error) {
	<-ctx.Done()
	return sandbox.Result{
		Status: sandbox.Canceled, Killed: []sandbox.Process{{PID: 7, Name: "python3"}}, KilledCount: 1,
	}, nil
}

// A talker is a command whose output is given to it, and that ends when there
// is no more.
type talker struct{ say, said chan string }

func newTalker() talker { return talker{make(chan string), make(chan string)} }

func (k talker) run(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) {
	for {
		select {
		case text, more := <-k.say:
			if !more {
				return exited(3), nil
			}
			if _, err := io.WriteString(cmd.Stdout, text); err != nil {
				return sandbox.Result{}, err
			}
			k.said <- text
		case <-ctx.Done():
			return sandbox.Result{Status: sandbox.Canceled}, nil
		}
	}
}

// tell has the command write a text.
func (k talker) tell(text string) {
	k.say <- text
	<-k.said
}

// timeless takes the durations out of a text.
func timeless(text string) string {
	return regexp.MustCompile(`[0-9]+\.[0-9] s\b`).ReplaceAllString(text, "N s")
}

func TestJob(t *testing.T) {
	server := newTalker()
	b := newBench(t, tools.JobsOptions{}, map[string]function{"serve": server.run})
	want := func(what string, res tools.Result, text, status string) {
		t.Helper()
		if diff := cmp.Diff(text, timeless(res.Parts[0].Text)); diff != "" || res.IsError || res.Status != status {
			t.Errorf("%s: %q, error %v (-want +got):\n%s", what, res.Status, res.IsError, diff)
		}
	}
	want("start", b.call(t, "bash", `{"command":"serve","background":true}`),
		"started job1 (serve)\n[job1 runs in the background; bash_output shows its output, bash_kill ends it]", "running")
	server.tell("listening\n")
	want("read", b.call(t, "bash_output", `{"job":"job1"}`), "listening\n[job1 runs, for N s until now]", "running")
	want("read again", b.call(t, "bash_output", `{"job":"job1"}`), "(no output)\n[job1 runs, for N s until now]", "running")
	want("wait in vain", b.call(t, "bash_output", `{"job":"job1","wait_seconds":0.001}`), "(no output)\n[job1 runs, for N s until now]", "running")
	want("another command", b.call(t, "bash", `{"command":"curl"}`), "(no output)\n[exit code 0]", "exited")
	if diff := cmp.Diff([]string{"job1 (serve)"}, b.jobs.Running()); diff != "" {
		t.Errorf("running (-want +got):\n%s", diff)
	}
	server.tell("bye")
	close(server.say)
	want("wait for the end", b.call(t, "bash_output", `{"job":"job1","wait_seconds":600}`), "bye\n[job1 has ended after N s: exit code 3]", "exited")
	want("kill too late", b.call(t, "bash_kill", `{"job":"job1"}`),
		"nothing was left to end\n[job1 has ended after N s: exit code 3]\n[bash_output shows what it wrote last]", "")
	want("told once", b.call(t, "bash", `{"command":"curl"}`), "(no output)\n[exit code 0]", "exited")
	if got := b.jobs.Running(); len(got) > 0 {
		t.Errorf("running: %q", got)
	}
}

func TestJobKilled(t *testing.T) {
	b := newBench(t, tools.JobsOptions{}, map[string]function{"serve\nmore": untilKilled})
	b.call(t, "bash", `{"command":"serve\nmore","background":true}`)
	res := b.call(t, "bash_kill", `{"job":"job1"}`)
	want := "ended job1 (serve…)\n[job1 has ended after N s: ended by bash_kill; its processes were ended]\n[ended: python3 (pid 7)]\n[bash_output shows what it wrote last]"
	if diff := cmp.Diff(want, timeless(text(t, res))); diff != "" || res.IsError {
		t.Errorf("error %v (-want +got):\n%s", res.IsError, diff)
	}
	res = b.call(t, "bash_output", `{"job":"job1"}`)
	if res.IsError || res.Status != "canceled" || !strings.Contains(text(t, res), "ended by bash_kill") {
		t.Errorf("read afterwards: %+v", res)
	}
}

// TestJobNews: the next command's result says that a job has ended, and why.
func TestJobNews(t *testing.T) {
	for _, test := range []struct {
		name   string
		result sandbox.Result
		err    error
		want   string
	}{
		{"by itself", exited(1), nil, "[job1 (x) has ended: exit code 1; bash_output shows what it wrote]"},
		{
			"cleared", sandbox.Result{Status: sandbox.Signaled, Signal: "SIGKILL", Reason: "another command filled the process limit"}, nil,
			"[job1 (x) has ended: its shell was killed by SIGKILL, which belljar did not send; another command filled the process limit; bash_output shows what it wrote]",
		},
		{
			"sandbox lost", sandbox.Result{}, errors.New("the container\nis gone"),
			"[job1 (x) has ended: it is lost: the container⟦0a⟧is gone; bash_output shows what it wrote]",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			release := make(chan struct{})
			b := newBench(t, tools.JobsOptions{}, map[string]function{
				"x": func(context.Context, sandbox.Command) (sandbox.Result, error) {
					<-release
					return test.result, test.err
				},
			})
			b.call(t, "bash", `{"command":"x","background":true}`)
			if got := text(t, b.call(t, "bash", `{"command":"true"}`)); strings.Contains(got, "job1") {
				t.Errorf("told before the end: %q", got)
			}
			close(release)
			b.awaitNone(t)
			got := text(t, b.call(t, "bash", `{"command":"true"}`))
			if diff := cmp.Diff("(no output)\n[exit code 0]\n"+test.want, got); diff != "" {
				t.Errorf("the next result (-want +got):\n%s", diff)
			}
			if got := text(t, b.call(t, "bash", `{"command":"true"}`)); strings.Contains(got, "job1") {
				t.Errorf("told twice: %q", got)
			}
			res := b.call(t, "bash_output", `{"job":"job1"}`)
			if wantError := test.err != nil || test.result.Status != sandbox.Exited; res.IsError != wantError {
				t.Errorf("read: error %v, want %v", res.IsError, wantError)
			}
		})
	}
}

// awaitNone waits until no job runs. Only asking tells that.
func (b *bench) awaitNone(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(patience); len(b.jobs.Running()) > 0; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("still running: %q", b.jobs.Running())
		}
	}
}

func TestJobsAtOnce(t *testing.T) {
	b := newBench(t, tools.JobsOptions{}, map[string]function{"x": untilKilled})
	start := func() tools.Result { return b.call(t, "bash", `{"command":"x","background":true}`) }
	for range tools.MaxJobs {
		if res := start(); res.IsError {
			t.Fatalf("%+v", res)
		}
	}
	if res := start(); !res.IsError || !strings.Contains(text(t, res), "8 jobs run already, the most at once (job1 (x), ") {
		t.Errorf("one too many: %+v", res)
	}
	b.call(t, "bash_kill", `{"job":"job3"}`)
	if res := start(); res.IsError || !strings.HasPrefix(text(t, res), "started job9 (x)\n") {
		t.Errorf("after one has ended: %+v", res)
	}
	// Many more are started and end than are remembered.
	for range 40 {
		b.call(t, "bash_kill", `{"job":"job9"}`)
		b.call(t, "bash", `{"command":"true","background":true}`)
		b.awaitEnded(t)
	}
	if res := b.call(t, "bash_output", `{"job":"job9"}`); !res.IsError || !strings.Contains(text(t, res), "job9 ended long ago") {
		t.Errorf("a job of long ago: %+v", res)
	}
	if res := b.call(t, "bash_output", `{"job":"job999"}`); !res.IsError || !strings.Contains(text(t, res), `there is no job "job999"; the jobs are: job1 (x), job2 (x), job4 (x)`) {
		t.Errorf("a job that never was: %+v", res)
	}
	if err := b.jobs.Close(); err != nil {
		t.Error(err)
	}
	if res := start(); !res.IsError || len(b.jobs.Running()) > 0 {
		t.Errorf("after Close: %+v, running %q", res, b.jobs.Running())
	}
}

// awaitEnded waits until nothing but what is ended by the test runs.
func (b *bench) awaitEnded(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(patience); len(b.jobs.Running()) >= tools.MaxJobs; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("still running: %q", b.jobs.Running())
		}
	}
}

func TestJobCommand(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for _, test := range []struct {
		name, args string
		timeout    time.Duration
		refused    string
	}{
		{name: "no timeout", args: `{"command":"x","background":true}`},
		{name: "longer than a command may", args: `{"command":"x","background":true,"timeout_seconds":86400}`, timeout: 24 * time.Hour},
		{name: "beyond any duration", args: `{"command":"x","background":true,"timeout_seconds":1e300}`, timeout: year},
		{name: "zero", args: `{"command":"x","background":true,"timeout_seconds":0}`, refused: "must be more than 0; leave it out and the job has no timeout"},
		{name: "empty", args: `{"command":" ","background":true}`, refused: "empty"},
		{name: "no script", args: `{"command":"a\u0000","background":true}`, refused: "NUL byte"},
		{name: "not a boolean", args: `{"command":"x","background":"yes"}`, refused: "must be a boolean"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := make(chan sandbox.Command, 1) // one job is started at most
			b := newBench(t, tools.JobsOptions{}, map[string]function{
				"x": func(_ context.Context, cmd sandbox.Command) (sandbox.Result, error) {
					got <- cmd
					return exited(0), nil
				},
			})
			res := b.call(t, "bash", test.args)
			if test.refused != "" {
				if !res.IsError || !strings.Contains(text(t, res), test.refused) {
					t.Errorf("%+v, want it refused: %s", res, test.refused)
				}
				return
			}
			cmd := <-got
			if cmd.Timeout != test.timeout || cmd.Dir != "/workspace" || cmd.OutputLimit != tools.MaxOutput || cmd.Stdout != cmd.Stderr {
				t.Errorf("command %+v", cmd)
			}
		})
	}
}

func TestJobArguments(t *testing.T) {
	b := newBench(t, tools.JobsOptions{}, nil)
	for _, test := range []struct{ tool, args, want string }{
		{"bash_output", `{}`, `"job" is missing`},
		{"bash_output", `{"job":"job1"}`, `there is no job "job1": no job was started`},
		{"bash_output", `{"job":"job1","wait_seconds":-1}`, "must not be negative"},
		{"bash_output", `{"job":"job1","wait":1}`, `"wait" is unknown`},
		{"bash_kill", `{"job":"all"}`, `there is no job "all"`},
	} {
		if res := b.call(t, test.tool, test.args); !res.IsError || !strings.Contains(text(t, res), test.want) {
			t.Errorf("%s %s: %+v, want %q", test.tool, test.args, res, test.want)
		}
	}
}

// A tool without jobs offers none.
func TestBashWithoutJobs(t *testing.T) {
	call := newBash(t, tools.BashOptions{}, func(context.Context, sandbox.Command) (sandbox.Result, error) { return exited(0), nil })
	if res := call(`{"command":"x","background":true}`); !res.IsError || !strings.Contains(text(t, res), `"background" is unknown`) {
		t.Errorf("%+v", res)
	}
}

// A shelf is a place for output that notes what happens to it.
type shelf struct {
	strings.Builder
	closed int
	err    error
}

func (s *shelf) Close() error { s.closed++; return s.err }

func (s *shelf) Kept() tools.Kept {
	return tools.Kept{Path: "/belljar/outputs/0001.txt", Bytes: int64(s.Len()), Lines: int64(strings.Count(s.String(), "\n"))}
}

// TestJobKept: what a reading leaves out can be found.
func TestJobKept(t *testing.T) {
	writer, kept := newTalker(), new(shelf)
	b := newBench(t, tools.JobsOptions{Keep: func() tools.Keeper { return kept }}, map[string]function{"write": writer.run})
	b.call(t, "bash", `{"command":"write","background":true}`)
	writer.tell("little\n")
	if got := text(t, b.call(t, "bash_output", `{"job":"job1"}`)); strings.Contains(got, "/belljar") {
		t.Errorf("nothing was left out: %q", got)
	}
	writer.tell(strings.Repeat("much\n", 10_000))
	got := text(t, b.call(t, "bash_output", `{"job":"job1"}`))
	if want := "[full output: /belljar/outputs/0001.txt, 50,007 bytes, 10,001 lines; read_file, grep and sed can read it]"; !strings.HasSuffix(got, want) {
		t.Errorf("the end is %q, want %q", got[max(0, len(got)-200):], want)
	}
	if !strings.Contains(got, "omitted …]\n") || len(got) > tools.ShownOutput+300 {
		t.Errorf("%d bytes shown", len(got))
	}
	writer.tell(strings.Repeat("x", int(tools.KeptOutput)))
	close(writer.say)
	got = text(t, b.call(t, "bash_output", `{"job":"job1","wait_seconds":600}`))
	if want := "[the beginning of the output: /belljar/outputs/0001.txt, 16,777,216 bytes, 10,001 lines;"; !strings.Contains(got, want) {
		t.Errorf("the end is %q, want %q", got[max(0, len(got)-200):], want)
	}
	if kept.closed != 1 {
		t.Errorf("closed %d times", kept.closed)
	}
}

// TestBashKept: a command's result names the file with what it leaves out.
func TestBashKept(t *testing.T) {
	for _, test := range []struct {
		name   string
		output string
		want   string // how the text ends
		closed int
	}{
		{"all shown", "little\n", "little\n[exit code 0]", 0},
		{
			"cut", strings.Repeat("much\n", 10_000),
			"much\n[exit code 0]\n[full output: /belljar/outputs/0001.txt, 50,000 bytes, 10,000 lines; read_file, grep and sed can read it]", 1,
		},
		{
			"more than is kept", strings.Repeat("0123456789abcde\n", 1<<20+1),
			"\n[exit code 0]\n[the beginning of the output: /belljar/outputs/0001.txt, 16,777,216 bytes, 1,048,576 lines; read_file, grep and sed can read it]", 1,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			bash, err := tools.NewBash(box{func(_ context.Context, cmd sandbox.Command) (sandbox.Result, error) {
				_, err := io.WriteString(cmd.Stdout, test.output)
				return exited(0), err
			}}, tools.BashOptions{})
			if err != nil {
				t.Fatal(err)
			}
			kept := new(shelf)
			res, err := bash.ExecuteTo(t.Context(), json.RawMessage(`{"command":"x"}`), kept)
			if err != nil {
				t.Fatal(err)
			}
			if got := text(t, res); !strings.HasSuffix(got, test.want) || kept.closed != test.closed {
				t.Errorf("the end is %q, want %q; closed %d times", got[max(0, len(got)-250):], test.want, kept.closed)
			}
		})
	}
}
