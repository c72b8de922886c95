package sandboxtest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/sandboxtest"
)

// mutantVariable names the mutant that TestMutant runs the suite on.
const mutantVariable = "SANDBOXTEST_MUTANT"

// A mutant is a runtime with one fault, which the suite must find.
type mutant struct {
	name string
	test string // the test, below TestMutant, that finds it
	exec func(m *mutantBox, ctx context.Context, cmd sandbox.Command) (sandbox.Result, error)
}

// after makes a mutant of what it does to results.
func after(change func(cmd sandbox.Command, result *sandbox.Result, err *error)) func(*mutantBox, context.Context, sandbox.Command) (sandbox.Result, error) {
	return func(m *mutantBox, ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) {
		result, err := m.Sandbox.Exec(ctx, cmd)
		change(cmd, &result, &err)
		return result, err
	}
}

// before makes a mutant of what it does to commands.
func before(change func(m *mutantBox, cmd *sandbox.Command)) func(*mutantBox, context.Context, sandbox.Command) (sandbox.Result, error) {
	return func(m *mutantBox, ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) {
		change(m, &cmd)
		return m.Sandbox.Exec(ctx, cmd)
	}
}

// cut is a writer that holds the last byte back.
type cut struct {
	w    io.Writer
	held []byte
}

func (c *cut) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	text := append(c.held, p...)
	c.held = []byte{text[len(text)-1]}
	if _, err := c.w.Write(text[:len(text)-1]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// other is another value for the same writer, and slow: two readers that are
// both quicker than the command may keep its order by luck.
type other struct{ io.Writer }

func (o other) Write(p []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return o.Writer.Write(p)
}

func mutants() []mutant {
	code := func(n int) *int { return &n }
	return []mutant{
		{"code above 128 shown as signal", "Status/ExitCodes", after(func(_ sandbox.Command, r *sandbox.Result, _ *error) {
			if r.ExitCode != nil && *r.ExitCode == 137 {
				r.Status, r.Signal, r.ExitCode = sandbox.Signaled, "SIGKILL", nil
			}
		})},
		{"signal shown as code", "Status/Signals", after(func(_ sandbox.Command, r *sandbox.Result, _ *error) {
			if r.Status == sandbox.Signaled {
				r.Status, r.Signal, r.ExitCode = sandbox.Exited, "", code(137)
			}
		})},
		{"failure to start shown as error", "Status/ArgsNotFound", after(func(_ sandbox.Command, r *sandbox.Result, err *error) {
			if r.ExitCode != nil && *r.ExitCode == 127 {
				*err = errors.New("not found")
			}
		})},
		{"end of stderr lost", "Output/EndNeverLost", before(func(_ *mutantBox, cmd *sandbox.Command) {
			cmd.Stderr = &cut{w: cmd.Stderr}
		})},
		{"one byte too many", "Output/Limit/endless", before(func(_ *mutantBox, cmd *sandbox.Command) {
			if cmd.OutputLimit > 0 {
				cmd.OutputLimit++
			}
		})},
		{"two pipes for one writer", "OnePipe/Order", before(func(_ *mutantBox, cmd *sandbox.Command) {
			cmd.Stderr = other{cmd.Stderr}
		})},
		{"no input", "Stdin/Bytes", before(func(_ *mutantBox, cmd *sandbox.Command) { cmd.Stdin = nil })},
		{"final newline added to the script", "Script/Quoting", before(func(_ *mutantBox, cmd *sandbox.Command) {
			if cmd.Script != "" {
				cmd.Script = "eval '" + cmd.Script + "'"
			}
		})},
		{"folder not told", "Dir/EndedIn", after(func(cmd sandbox.Command, r *sandbox.Result, _ *error) { r.Dir = "/" })},
		{"lost folder not told", "Dir/Lost", after(func(_ sandbox.Command, r *sandbox.Result, _ *error) { r.DirLost = false })},
		{"folder kept", "Dir/Default", func(m *mutantBox, ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) {
			m.mu.Lock()
			defer m.mu.Unlock()
			if cmd.Dir == "" {
				cmd.Dir = m.dir
			}
			result, err := m.Sandbox.Exec(ctx, cmd)
			m.dir = result.Dir
			return result, err
		}},
		{"environment kept", "Env/Given", before(func(m *mutantBox, cmd *sandbox.Command) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.env = append(m.env, cmd.Env...)
			cmd.Env = append([]string(nil), m.env...)
		})},
		{"environment of the host passed", "Env/HostNotPassed", before(func(_ *mutantBox, cmd *sandbox.Command) { cmd.Env = append(os.Environ(), cmd.Env...) })},
		{"processes left not told", "Left/Named", after(func(_ sandbox.Command, r *sandbox.Result, _ *error) { r.Left, r.LeftCount = nil, 0 })},
		{"killed ones not told", "End/Timeout/sleep", after(func(_ sandbox.Command, r *sandbox.Result, _ *error) { r.Killed, r.KilledCount = nil, 0 })},
		{"cancel shown as timeout", "End/Cancel", after(func(_ sandbox.Command, r *sandbox.Result, _ *error) {
			if r.Status == sandbox.Canceled {
				r.Status = sandbox.TimedOut
			}
		})},
		{"tree outlives its shell", "KillTree/Timeout/setsid$", func(m *mutantBox, ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) {
			if cmd.Timeout == 0 {
				return m.Sandbox.Exec(ctx, cmd)
			}
			// Every command but the one that looks is left alone.
			result, err := m.Sandbox.Exec(ctx, cmd)
			if _, err := m.Sandbox.Exec(context.Background(), sandbox.Command{Script: lastSleep(cmd.Script) + " &"}); err != nil {
				return sandbox.Result{}, err
			}
			return result, err
		}},
		{"writer's error swallowed", "Output/WriterFails", after(func(_ sandbox.Command, r *sandbox.Result, err *error) {
			if *err != nil {
				*r, *err = sandbox.Result{Status: sandbox.Exited, ExitCode: code(0), Dir: "/"}, nil
			}
		})},
		{"closed sandbox not told", "Lifecycle/CloseTwice", after(func(_ sandbox.Command, _ *sandbox.Result, err *error) {
			if errors.Is(*err, sandbox.ErrClosed) {
				*err = errors.New("broken")
			}
		})},
	}
}

// lastSleep finds the sleep in a victim's script.
func lastSleep(script string) string {
	at := strings.LastIndex(script, "sleep ")
	end := at + len("sleep ") + 9
	return script[at:end]
}

type mutantRuntime struct {
	sandbox.Runtime
	mutant mutant
}

func (r mutantRuntime) Start(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	sb, err := r.Runtime.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	return &mutantBox{Sandbox: sb, mutant: r.mutant}, nil
}

type mutantBox struct {
	sandbox.Sandbox
	mutant mutant

	mu  sync.Mutex
	dir string
	env []string
}

func (m *mutantBox) Exec(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) {
	return m.mutant.exec(m, ctx, cmd)
}

// TestMutant is the part of TestFaultsAreFound that runs in a process of its
// own, where the suite may fail. Without a mutant to run there is none to
// test, and all that it checks is their names.
func TestMutant(t *testing.T) {
	want := os.Getenv(mutantVariable)
	seen := map[string]bool{}
	for _, m := range mutants() {
		if seen[m.name] {
			t.Errorf("two mutants are called %q", m.name)
		}
		seen[m.name] = true
		if m.name == want {
			sandboxtest.TestRuntime(t, sandboxtest.Config{
				Runtime: mutantRuntime{newRuntime(t, sandboxtest.Options{}), m},
				Spec:    func(t *testing.T) sandbox.Spec { return newSpec(t) },
			})
		}
	}
}

func TestFaultsAreFound(t *testing.T) {
	for _, m := range mutants() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.short", "-test.v", "-test.run=^TestMutant$/"+m.test)
			cmd.Env = append(os.Environ(), mutantVariable+"="+m.name)
			var output bytes.Buffer
			cmd.Stdout, cmd.Stderr = &output, &output
			err := cmd.Run()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || !strings.Contains(output.String(), "--- FAIL: TestMutant/"+strings.Split(m.test, "/")[0]) {
				t.Errorf("the suite did not find the fault (%v):\n%s", err, output.String())
			}
		})
	}
}
