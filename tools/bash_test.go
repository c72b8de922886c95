package tools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/tools"
	"github.com/google/go-cmp/cmp"
)

// A box is a sandbox whose commands are run by a function.
type box struct {
	exec func(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error)
}

func (b box) Exec(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) {
	return b.exec(ctx, cmd)
}

func (box) Info() sandbox.Info {
	return sandbox.Info{MountPoint: "/workspace", Env: []string{"OUT=/out"}, Limits: sandbox.Limits{Memory: 2 * sandbox.GiB, Pids: 512, Disk: 10 * sandbox.GiB}}
}

func (box) Close() error { return nil }

func exited(code int) sandbox.Result {
	return sandbox.Result{Status: sandbox.Exited, ExitCode: &code, Dir: "/workspace"}
}

// newBash makes a registered bash tool and a way to call it.
func newBash(t *testing.T, opts tools.BashOptions, exec func(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error)) func(args string) tools.Result {
	t.Helper()
	bash, err := tools.NewBash(box{exec}, opts)
	if err != nil {
		t.Fatal(err)
	}
	var r tools.Registry
	if err := r.Register(bash); err != nil {
		t.Fatal(err)
	}
	return func(args string) tools.Result {
		t.Helper()
		res, err := r.Execute(t.Context(), "bash", json.RawMessage(args))
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
}

func TestBashLost(t *testing.T) {
	call := newBash(t, tools.BashOptions{}, func(_ context.Context, cmd sandbox.Command) (sandbox.Result, error) {
		io.WriteString(cmd.Stdout, "half a l")
		return sandbox.Result{}, fmt.Errorf("starting: %w", &sandbox.RenewedError{Lost: sandbox.ErrLost, Count: 1, Max: 3})
	})
	got := call(`{"command":"make"}`)
	if !got.IsError || got.Status != "lost" || got.ExitCode != nil {
		t.Errorf("IsError %v, status %q, exit code %v; want an error, lost and none", got.IsError, got.Status, got.ExitCode)
	}
	text := got.Parts[0].Text
	for _, want := range []string{"half a l\n[the sandbox was lost", "not known", "same workspace", "/tmp", "processes"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
}

func TestBashReports(t *testing.T) {
	seven, zero := 7, 0
	for _, tt := range []struct {
		name    string
		output  string
		result  sandbox.Result
		want    string
		isError bool
	}{
		{"success", "ok\n", sandbox.Result{Status: sandbox.Exited, ExitCode: &zero}, "ok\n[exit code 0]", false},
		{"failure is an answer", "no newline", sandbox.Result{Status: sandbox.Exited, ExitCode: &seven}, "no newline\n[exit code 7]", false},
		{"no output", "", sandbox.Result{Status: sandbox.Exited, ExitCode: &zero}, "(no output)\n[exit code 0]", false},
		{"cleaned output", "\x1b[31mred\x1b[0m\x00\r\n", sandbox.Result{Status: sandbox.Exited, ExitCode: &zero}, "red\n[exit code 0]", false},
		{
			"directory", "", sandbox.Result{Status: sandbox.Exited, ExitCode: &zero, Dir: "/workspace/a b"},
			"(no output)\n[exit code 0]\n[the next command runs in /workspace/a b]", false,
		},
		{
			"directory with tricks in its name", "", sandbox.Result{Status: sandbox.Exited, ExitCode: &zero, Dir: "/workspace/\x1b[31m\n[exit code 1]"},
			"(no output)\n[exit code 0]\n[the next command runs in /workspace/⟦1b⟧[31m⟦0a⟧[exit code 1]]", false,
		},
		{
			"directory gone", "", sandbox.Result{Status: sandbox.Exited, ExitCode: &zero, Dir: "/workspace", DirLost: true},
			"(no output)\n[exit code 0]\n[the folder /workspace could not be entered any more, so the command ran in the workspace's own folder]", false,
		},
		{
			"signal", "part", sandbox.Result{Status: sandbox.Signaled, Signal: "SIGKILL"},
			"part\n[its shell was killed by SIGKILL, which belljar did not send]", true,
		},
		{
			"signal with a reason", "", sandbox.Result{Status: sandbox.Signaled, Signal: "SIGKILL", Reason: "the sandbox was cleared"},
			"(no output)\n[its shell was killed by SIGKILL, which belljar did not send; the sandbox was cleared]", true,
		},
		{
			"timeout", "BEFORE\n", sandbox.Result{Status: sandbox.TimedOut, Killed: []sandbox.Process{{PID: 12, Name: "sleep"}}, KilledCount: 1},
			"BEFORE\n[timed out after 120 s; its processes were ended]\n[ended: sleep (pid 12)]", true,
		},
		{"canceled", "", sandbox.Result{Status: sandbox.Canceled}, "(no output)\n[canceled; its processes were ended]", true},
		{"output limit", "y\n", sandbox.Result{Status: sandbox.OutputLimit}, "y\n[it wrote more than 256 MiB; its processes were ended]", true},
		{"disk limit", "", sandbox.Result{Status: sandbox.DiskLimit, Reason: "11 GiB were added"}, "(no output)\n[the disk limit was reached (10 GiB); its processes were ended; 11 GiB were added]", true},
		{
			"out of memory", "", sandbox.Result{Status: sandbox.OutOfMemory, ExitCode: &seven, OOMKills: 2},
			"(no output)\n[the memory limit was reached (2 GiB): 2 processes were killed for it in this sandbox; its shell ended with exit code 7]", true,
		},
		{
			"out of memory, handled", "", sandbox.Result{Status: sandbox.Exited, ExitCode: &zero, OOMKills: 1},
			"(no output)\n[exit code 0]\n[notice: the memory limit was reached (2 GiB): 1 process was killed for it in this sandbox]", false,
		},
		{
			"process limit", "", sandbox.Result{Status: sandbox.PidsLimit, ForkFailures: 3},
			"(no output)\n[the process limit was reached (512): 3 new processes were refused in this sandbox]", true,
		},
		{
			"process limit, handled", "", sandbox.Result{Status: sandbox.Exited, ExitCode: &zero, ForkFailures: 1},
			"(no output)\n[exit code 0]\n[notice: the process limit was reached (512): 1 new process was refused in this sandbox]", false,
		},
		{
			"left in the background", "ok\n",
			sandbox.Result{Status: sandbox.Exited, ExitCode: &zero, Left: []sandbox.Process{{PID: 12, Name: "sleep"}, {PID: 13, Name: "a\nb"}}, LeftCount: 5},
			"ok\n[exit code 0]\n[5 processes still run in the background: sleep (pid 12), a⟦0a⟧b (pid 13) and 3 more]", false,
		},
		{
			"one left", "", sandbox.Result{Status: sandbox.Exited, ExitCode: &zero, Left: []sandbox.Process{{PID: 12, Name: "sleep"}}, LeftCount: 1},
			"(no output)\n[exit code 0]\n[1 process still runs in the background: sleep (pid 12)]", false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			call := newBash(t, tools.BashOptions{}, func(_ context.Context, cmd sandbox.Command) (sandbox.Result, error) {
				if cmd.Script != "the script" || cmd.Stdout != cmd.Stderr || cmd.OutputLimit != 256<<20 {
					t.Errorf("command %+v", cmd)
				}
				_, err := io.WriteString(cmd.Stdout, tt.output)
				return tt.result, err
			})
			res := call(`{"command":"the script"}`)
			if diff := cmp.Diff(tt.want, text(t, res)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if res.IsError != tt.isError || res.Status != string(tt.result.Status) || res.ExitCode != tt.result.ExitCode {
				t.Errorf("result %+v", res)
			}
		})
	}
}

func TestBashKeepsTheDirectory(t *testing.T) {
	dirs := []string{"/workspace/sub", "", "/workspace/sub", "/workspace"}
	var ran []string
	call := newBash(t, tools.BashOptions{}, func(_ context.Context, cmd sandbox.Command) (sandbox.Result, error) {
		ran = append(ran, cmd.Dir)
		res := exited(0)
		res.Dir = dirs[len(ran)-1]
		return res, nil
	})
	var told []bool
	for range dirs {
		told = append(told, strings.Contains(text(t, call(`{"command":"x"}`)), "the next command runs in"))
	}
	if diff := cmp.Diff([]string{"/workspace", "/workspace/sub", "/workspace/sub", "/workspace/sub"}, ran); diff != "" {
		t.Errorf("directories (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]bool{true, false, false, true}, told); diff != "" {
		t.Errorf("told of a change (-want +got):\n%s", diff)
	}
}

func TestBashTimeouts(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts tools.BashOptions
		args string
		want time.Duration
		text string
	}{
		{name: "default", args: `{"command":"x"}`, want: 120 * time.Second},
		{name: "fraction", args: `{"command":"x","timeout_seconds":0.25}`, want: 250 * time.Millisecond},
		{name: "largest", args: `{"command":"x","timeout_seconds":600}`, want: 600 * time.Second},
		{name: "clamped", args: `{"command":"x","timeout_seconds":601}`, want: 600 * time.Second, text: "more than the largest: 600 s were used"},
		{name: "beyond any duration", args: `{"command":"x","timeout_seconds":1e300}`, want: 600 * time.Second, text: "more than the largest"},
		{name: "too small for a duration", args: `{"command":"x","timeout_seconds":1e-300}`, want: time.Millisecond},
		{name: "zero", args: `{"command":"x","timeout_seconds":0}`, text: "must be more than 0"},
		{name: "negative", args: `{"command":"x","timeout_seconds":-1}`, text: "must be more than 0"},
		{name: "null", args: `{"command":"x","timeout_seconds":null}`, want: 120 * time.Second},
		{name: "string", args: `{"command":"x","timeout_seconds":"2"}`, text: `"timeout_seconds" is a string, and must be a number`},
		{name: "own default", opts: tools.BashOptions{Timeout: 900 * time.Second}, args: `{"command":"x"}`, want: 900 * time.Second},
		{name: "own largest under the default", opts: tools.BashOptions{MaxTimeout: 5 * time.Second}, args: `{"command":"x"}`, want: 5 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got time.Duration
			call := newBash(t, tt.opts, func(_ context.Context, cmd sandbox.Command) (sandbox.Result, error) {
				got = cmd.Timeout
				return exited(0), nil
			})
			res := call(tt.args)
			if got != tt.want || !strings.Contains(text(t, res), tt.text) {
				t.Errorf("timeout %v, want %v; result %+v, want %q in it", got, tt.want, res, tt.text)
			}
			if (tt.want == 0) != res.IsError {
				t.Errorf("IsError = %v", res.IsError)
			}
		})
	}
}

func TestNewBashRefusesOptions(t *testing.T) {
	for name, opts := range map[string]tools.BashOptions{
		"negative":                   {Timeout: -1},
		"default beyond the largest": {Timeout: 10 * time.Second, MaxTimeout: 5 * time.Second},
	} {
		if _, err := tools.NewBash(box{}, opts); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestBashRefusesCommands(t *testing.T) {
	call := newBash(t, tools.BashOptions{}, func(_ context.Context, cmd sandbox.Command) (sandbox.Result, error) {
		return sandbox.Result{}, cmd.Check()
	})
	for args, want := range map[string]string{
		`{"command":""}`:             "empty",
		`{"command":" \n"}`:          "empty",
		`{"command":"echo \u0000x"}`: "NUL byte",
		``:                           `"command" is missing`,
	} {
		if res := call(args); !res.IsError || !strings.Contains(text(t, res), want) {
			t.Errorf("with %s: %+v, want %q", args, res, want)
		}
	}
}

// A sandbox that broke ends the run; it is no answer to the model.
func TestBashLostSandbox(t *testing.T) {
	bash, err := tools.NewBash(box{func(context.Context, sandbox.Command) (sandbox.Result, error) {
		return sandbox.Result{}, fmt.Errorf("container was removed: %w", sandbox.ErrLost)
	}}, tools.BashOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the tool is not stuck after the first
		if res, err := bash.Execute(t.Context(), json.RawMessage(`{"command":"x"}`)); !errors.Is(err, sandbox.ErrLost) {
			t.Errorf("Execute = %+v, %v, want ErrLost", res, err)
		}
	}
}

func TestBashBoundsOutput(t *testing.T) {
	bash, err := tools.NewBash(box{func(_ context.Context, cmd sandbox.Command) (sandbox.Result, error) {
		chunk := []byte(strings.Repeat("中文\n", 4096))
		for range 20 << 20 / len(chunk) {
			if _, err := cmd.Stdout.Write(chunk); err != nil {
				return sandbox.Result{}, err
			}
		}
		return exited(0), nil
	}}, tools.BashOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var raw bytes.Buffer
	res, err := bash.ExecuteTo(t.Context(), json.RawMessage(`{"command":"x"}`), &raw)
	if err != nil {
		t.Fatal(err)
	}
	if n := int64(raw.Len()); n != tools.KeptOutput {
		t.Errorf("%d bytes kept, want %d", n, tools.KeptOutput)
	}
	got := text(t, res)
	if n := len([]rune(got)); n > tools.ShownOutput+100 || n < tools.ShownOutput*9/10 {
		t.Errorf("%d characters shown", n)
	}
	if !strings.Contains(got, "omitted …]") || !strings.HasSuffix(got, "中文\n[exit code 0]") {
		t.Errorf("the end is %q", got[len(got)-100:])
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestBashRawOutputFails(t *testing.T) {
	bash, err := tools.NewBash(box{func(_ context.Context, cmd sandbox.Command) (sandbox.Result, error) {
		_, err := io.WriteString(cmd.Stdout, "x")
		return sandbox.Result{}, err
	}}, tools.BashOptions{})
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	if _, err := bash.ExecuteTo(t.Context(), json.RawMessage(`{"command":"x"}`), failing{full}); !errors.Is(err, full) {
		t.Errorf("ExecuteTo = %v, want the writer's error", err)
	}
}

// Calls of one tool run one after another; one that waits can be canceled.
func TestBashSerialises(t *testing.T) {
	running, release := make(chan struct{}), make(chan struct{})
	var (
		mu   sync.Mutex
		busy int
	)
	bash, err := tools.NewBash(box{func(context.Context, sandbox.Command) (sandbox.Result, error) {
		mu.Lock()
		busy++
		if busy > 1 {
			t.Error("two commands at once")
		}
		mu.Unlock()
		running <- struct{}{}
		<-release
		mu.Lock()
		busy--
		mu.Unlock()
		return exited(0), nil
	}}, tools.BashOptions{})
	if err != nil {
		t.Fatal(err)
	}
	args := json.RawMessage(`{"command":"x"}`)
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if res, err := bash.Execute(t.Context(), args); err != nil || res.IsError {
				t.Errorf("Execute = %+v, %v", res, err)
			}
		})
	}
	<-running
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	res, err := bash.Execute(canceled, args)
	if err != nil || !res.IsError || res.Status != string(sandbox.Canceled) {
		t.Errorf("a call canceled while it waits: %+v, %v", res, err)
	}
	for range 2 {
		release <- struct{}{}
		<-running
	}
	release <- struct{}{}
	group.Wait()
}

func TestBashDescription(t *testing.T) {
	bash, err := tools.NewBash(box{}, tools.BashOptions{Timeout: 7 * time.Second, MaxTimeout: 77 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	def := bash.Definition()
	for _, want := range []string{"/workspace", "7 seconds", "at most 77", "30,000 characters", "256 MiB"} {
		if !strings.Contains(def.Description, want) {
			t.Errorf("the description lacks %q", want)
		}
	}
	if def.Effect != tools.Execute {
		t.Errorf("Effect = %v", def.Effect)
	}
}

// protecting is a sandbox that keeps files from change.
type protecting struct{ box }

func (p protecting) Info() sandbox.Info {
	info := p.box.Info()
	info.Protected.ReadOnly = []string{".git/config", ".git/hooks"}
	return info
}

func TestBashTellsOfProtection(t *testing.T) {
	for _, tt := range []struct {
		name string
		box  sandbox.Sandbox
		want bool
	}{{"protected", protecting{}, true}, {"nothing protected", box{}, false}} {
		bash, err := tools.NewBash(tt.box, tools.BashOptions{})
		if err != nil {
			t.Fatal(err)
		}
		text := bash.Definition().Description
		if got := strings.Contains(text, "\n- .git/config and .git/hooks cannot be changed."); got != tt.want {
			t.Errorf("%s: told = %v, want %v:\n%s", tt.name, got, tt.want, text)
		}
	}
}

func TestBashEnv(t *testing.T) {
	env := tools.BashEnv()
	for _, want := range []string{"PAGER=cat", "GIT_PAGER=cat", "TERM=dumb", "NO_COLOR=1", "LANG=C.UTF-8", "GIT_EDITOR=false"} {
		found := false
		for _, kv := range env {
			found = found || kv == want
		}
		if !found {
			t.Errorf("%s is missing", want)
		}
	}
	cmd := sandbox.Command{Script: "x", Env: env}
	if err := cmd.Check(); err != nil {
		t.Error(err)
	}
}
