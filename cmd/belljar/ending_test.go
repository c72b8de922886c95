package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
)

func number(n int) *int { return &n }

func TestCommandCode(t *testing.T) {
	for _, test := range []struct {
		name   string
		result sandbox.Result
		cause  error
		code   int
		line   string // a piece of the line on stderr; "" is no line
	}{
		{"success", sandbox.Result{Status: sandbox.Exited, ExitCode: number(0)}, nil, 0, ""},
		{"own code", sandbox.Result{Status: sandbox.Exited, ExitCode: number(7)}, nil, 7, ""},
		{"own code above 128", sandbox.Result{Status: sandbox.Exited, ExitCode: number(137)}, nil, 137, ""},
		{"killed", sandbox.Result{Status: sandbox.Signaled, Signal: "SIGKILL"}, nil, 137, "signaled: the command was ended by SIGKILL"},
		{"terminated", sandbox.Result{Status: sandbox.Signaled, Signal: "SIGTERM"}, nil, 143, "SIGTERM"},
		{"timeout", sandbox.Result{Status: sandbox.TimedOut, KilledCount: 3}, nil, 124, "timeout: the command was ended after 2s; 3 processes ended with it"},
		{"memory", sandbox.Result{Status: sandbox.OutOfMemory, OOMKills: 1}, nil, 137, "out_of_memory: the command went over the memory limit of 64 MiB"},
		{"output", sandbox.Result{Status: sandbox.OutputLimit}, nil, 123, "output_limit: the command wrote more than 64 MiB and was ended; --max-output raises it"},
		{"disk", sandbox.Result{Status: sandbox.DiskLimit}, nil, 123, "disk_limit: commands went over the limit of "},
		{"processes", sandbox.Result{Status: sandbox.PidsLimit}, nil, 123, "pids_limit: the command went over the limit of 100 processes"},
		{"interrupted", sandbox.Result{Status: sandbox.Canceled}, &signalError{syscall.SIGINT}, 130, "canceled: the command was ended because of SIGINT"},
		{"asked to end", sandbox.Result{Status: sandbox.Canceled}, &signalError{syscall.SIGTERM}, 143, "SIGTERM"},
		{"terminal gone", sandbox.Result{Status: sandbox.Canceled}, &signalError{syscall.SIGHUP}, 143, "SIGHUP"},
		{"a reason", sandbox.Result{Status: sandbox.Signaled, Signal: "SIGKILL", Reason: "the sandbox was cleared"}, nil, 137, "(the sandbox was cleared)"},
		{"unknown status", sandbox.Result{Status: "melted"}, nil, 125, "melted: "},
		{"exited without a code", sandbox.Result{Status: sandbox.Exited}, nil, 125, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := commandCode(test.result, test.cause); got != test.code {
				t.Errorf("code %d, want %d", got, test.code)
			}
			line := commandLine(test.result, sandbox.Limits{Memory: 64 << 20, Pids: 100}, sandbox.Command{Timeout: 2 * time.Second, OutputLimit: 64 << 20}, test.cause)
			if (line == "") != (test.line == "") || !strings.Contains(line, test.line) {
				t.Errorf("line %q, want %q in it", line, test.line)
			}
			if test.result.Status == sandbox.Signaled && strings.Contains(line, "memory") {
				t.Errorf("a signal is told as a matter of memory: %q", line)
			}
		})
	}
}

func TestSideNotes(t *testing.T) {
	left := []sandbox.Process{{PID: 12, Name: "sleep"}, {PID: 13, Name: "e\x1b[2Jvil"}}
	notes := sideNotes(sandbox.Result{
		Status: sandbox.Exited, ExitCode: number(0), OOMKills: 1, ForkFailures: 3, LeftCount: 40, Left: left,
	}, sandbox.Limits{Memory: 64 << 20, Pids: 100})
	text := strings.Join(notes, "\n")
	for _, want := range []string{
		"the memory limit of 64 MiB ended 1 process", "limit of 100 processes was reached",
		"40 processes still ran", "sleep (pid 12), evil (pid 13), and 38 more",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
	large := sandbox.Result{Status: sandbox.Exited, ExitCode: number(153), Reason: "a large file"}
	if notes := sideNotes(large, sandbox.Limits{Disk: 1}); len(notes) != 1 || notes[0] != "a large file; --disk raises it" {
		t.Errorf("notes about a file over the limit: %q", notes)
	}
	if notes := sideNotes(sandbox.Result{Status: sandbox.Exited, ExitCode: number(0)}, sandbox.Limits{}); len(notes) != 0 {
		t.Errorf("notes about nothing: %q", notes)
	}
}

func TestSignalNumber(t *testing.T) {
	for name, want := range map[string]int{
		"SIGHUP": 1, "SIGINT": 2, "SIGKILL": 9, "SIGSEGV": 11, "SIGTERM": 15, "SIGSYS": 31, "SIGRTMIN+2": 36, "SIG40": 40,
		"signal 35": 35, "": 0, "SIGNONE": 0,
	} {
		if got := signalNumber(name); got != want {
			t.Errorf("signalNumber(%q) = %d, want %d", name, got, want)
		}
	}
}

func TestExitCode(t *testing.T) {
	live := context.Background()
	ended := func(cause error) context.Context {
		ctx, cancel := context.WithCancelCause(live)
		cancel(cause)
		return ctx
	}
	usage := usagef("no")
	broken := &failure{errors.New("engine")}
	for _, test := range []struct {
		name string
		ctx  context.Context
		verb string
		err  error
		want int
	}{
		{"done", live, "exec", nil, 0},
		{"command's code", live, "exec", &outcome{7}, 7},
		{"usage of exec", live, "exec", usage, 125},
		{"usage of run", live, "run", usage, 2},
		{"usage that cobra found", live, "show", errors.New("unknown flag"), 2},
		{"engine", live, "run", broken, 125},
		{"not there", live, "show", &failure{&noError{errors.New("none")}}, 1},
		{"reader gone", live, "exec", &failure{fmt.Errorf("writing: %w", errReaderGone)}, 141},
		{"INT", ended(&signalError{syscall.SIGINT}), "run", broken, 130},
		{"TERM", ended(&signalError{syscall.SIGTERM}), "exec", broken, 143},
		{"the answer stands before the signal", ended(&signalError{syscall.SIGINT}), "exec", &outcome{7}, 7},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := exitCode(test.ctx, test.verb, test.err); got != test.want {
				t.Errorf("exit code %d, want %d", got, test.want)
			}
		})
	}
}
