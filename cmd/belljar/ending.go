package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/belljar/belljar/internal/ui"
	"github.com/belljar/belljar/sandbox"
)

// commandCode maps how a command ended to the exit code of exec. cause is why
// the command was canceled, where it was.
func commandCode(result sandbox.Result, cause error) int {
	switch result.Status {
	case sandbox.Exited:
		if result.ExitCode == nil {
			return exitFailure
		}
		return *result.ExitCode
	case sandbox.Signaled:
		return exitSignalBase + signalNumber(result.Signal)
	case sandbox.TimedOut:
		return exitTimeout
	case sandbox.OutOfMemory:
		return exitOutOfMemory
	case sandbox.OutputLimit, sandbox.DiskLimit, sandbox.PidsLimit:
		return exitOverLimit
	case sandbox.Canceled:
		var sig *signalError
		if errors.As(cause, &sig) {
			return sig.code()
		}
		return exitTerminated
	default:
		return exitFailure
	}
}

// commandLine says in one line how a command ended that did not end by itself.
func commandLine(result sandbox.Result, limits sandbox.Limits, cmd sandbox.Command, cause error) string {
	line := string(result.Status) + ": "
	switch result.Status {
	case sandbox.Exited:
		return ""
	case sandbox.Signaled:
		line += "the command was ended by " + result.Signal + ", which belljar did not send"
	case sandbox.TimedOut:
		line += "the command was ended after " + cmd.Timeout.String()
	case sandbox.OutOfMemory:
		line += "the command went over the memory limit of " + ui.Size(limits.Memory) + "; --memory raises it"
	case sandbox.OutputLimit:
		line += "the command wrote more than " + ui.Size(cmd.OutputLimit) + " and was ended; --max-output raises it"
	case sandbox.DiskLimit:
		line += "commands went over the limit of " + ui.Size(limits.Disk) + " on disk; --disk raises it"
	case sandbox.PidsLimit:
		line += fmt.Sprintf("the command went over the limit of %d processes; --pids raises it", limits.Pids)
	case sandbox.Canceled:
		line += "the command was ended"
		if sig := new(signalError); errors.As(cause, &sig) {
			line += " because of " + sig.name()
		}
	default:
		line += "the command was ended"
	}
	if result.KilledCount > 0 && !strings.HasSuffix(line, "raises it") {
		line += "; " + ui.Plural(result.KilledCount, "process|processes") + " ended with it"
	}
	if result.Reason != "" {
		line += " (" + result.Reason + ")"
	}
	return line
}

// notFoundCode is the exit code of a command whose program is not there.
const notFoundCode = 127

// shellHint says what to do about a whole shell line that was given as the
// name of one program, "" where that is not what happened.
func shellHint(result sandbox.Result, args []string) string {
	if result.Status != sandbox.Exited || result.ExitCode == nil || *result.ExitCode != notFoundCode ||
		len(args) != 1 || !strings.ContainsAny(args[0], " \t\n") {
		return ""
	}
	return "after -- the first word is the name of a program; a shell line goes with -c: belljar exec -c " + shellQuote(args[0])
}

// shellQuote makes one word of a text for the user's shell.
func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// sideNotes are the lines about what happened beside a command's end.
func sideNotes(result sandbox.Result, limits sandbox.Limits) []string {
	var notes []string
	if result.Status == sandbox.Exited && result.OOMKills > 0 {
		notes = append(notes, fmt.Sprintf("the memory limit of %s ended %s in this sandbox",
			ui.Size(limits.Memory), ui.Plural(result.OOMKills, "process|processes")))
	}
	if result.Status == sandbox.Exited && result.ForkFailures > 0 {
		notes = append(notes, fmt.Sprintf("the limit of %d processes was reached in this sandbox", limits.Pids))
	}
	if result.Status == sandbox.Exited && result.Reason != "" {
		note := result.Reason
		if limits.Disk > 0 && commandCode(result, nil) == exitSignalBase+signalNumber("SIGXFSZ") {
			note += "; --disk raises it"
		}
		notes = append(notes, note)
	}
	if result.LeftCount > 0 {
		verb := "were"
		if result.LeftCount == 1 {
			verb = "was"
		}
		notes = append(notes, fmt.Sprintf("%s still ran when the command had ended, and %s ended with the sandbox: %s",
			ui.Plural(result.LeftCount, "process|processes"), verb, processes(result.Left, result.LeftCount)))
	}
	return notes
}

// shownProcesses bounds a list of processes in a line.
const shownProcesses = 4

// processes lists some processes for a line.
func processes(list []sandbox.Process, count int) string {
	var names []string
	for _, p := range list[:min(len(list), shownProcesses)] {
		names = append(names, fmt.Sprintf("%s (pid %d)", ui.Line(p.Name), p.PID))
	}
	if count > len(names) {
		names = append(names, fmt.Sprintf("and %d more", count-len(names)))
	}
	return strings.Join(names, ", ")
}

// signalNumber is a signal's number on Linux, where commands run, whatever
// belljar itself runs on. 0 is a signal that is not known.
func signalNumber(name string) int {
	// Index 0 is signal 1.
	names := strings.Fields(`HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM
		STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS`)
	short := strings.TrimPrefix(name, "SIG")
	for i, known := range names {
		if short == known {
			return i + 1
		}
	}
	if offset, ok := strings.CutPrefix(short, "RTMIN+"); ok {
		if n, err := strconv.Atoi(offset); err == nil && n >= 0 && n <= 30 {
			return 34 + n
		}
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(short), "signal ")); err == nil && n > 0 && n < 65 {
		return n
	}
	return 0
}

// causeOf is why a context ended, nil while it has not.
func causeOf(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}
