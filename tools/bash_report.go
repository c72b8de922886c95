package tools

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/sandbox"
)

// A report words what a model is told after a command's output.
type report struct {
	result  sandbox.Result
	limits  sandbox.Limits
	timeout time.Duration
	clamped bool
	from    string // the directory it was to run in
	next    string // the directory that the next command runs in
	// renewed tells that the sandbox was lost since the last command, which
	// somebody else met: a sub-agent, a job, another tool.
	renewed bool
	// canceled says who ended the command, where that is known.
	canceled string
}

// lines say how the command ended and what else there is to know.
func (r report) lines() []note { return append([]note{r.ending()}, r.notices()...) }

// statusLost is the status of a call whose sandbox was lost and renewed. It is
// none of a command's: nobody knows how the command ended.
const statusLost = "lost"

// goneText says what went with a sandbox that was lost.
const goneText = "gone are all processes, /tmp, the home folder, and whatever else was made or installed outside the workspace"

// lostText words what a model is told where the sandbox was renewed.
func lostText(out string) string {
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	return out + "[the sandbox was lost before or while this command ran; how it ended and how much of it was done is not known]\n" +
		"[a new sandbox stands over the same workspace, whose files are as they were left: look before you run it again]\n" +
		"[" + goneText + "]"
}

// ending says how the command ended, in one line.
func (r report) ending() note {
	line := r.status()
	if code := r.result.ExitCode; code != nil {
		if r.result.Status == sandbox.Exited {
			line = notef("exit code %d", *code)
		} else {
			line = notef("%s; its shell ended with exit code %d", line, *code)
		}
	}
	if r.result.Reason != "" {
		line = notef("%s; %s", line, visibleName(r.result.Reason))
	}
	return line
}

func (r report) status() note {
	const ended = "; its processes were ended"
	switch r.result.Status {
	case sandbox.Exited:
		return notef("exited")
	case sandbox.Signaled:
		return notef("its shell was killed by %s, which belljar did not send", signalName(r.result.Signal))
	case sandbox.Canceled:
		return notef("%s%s", cmp.Or(r.canceled, "canceled"), ended)
	case sandbox.TimedOut:
		return notef("timed out after %s s%s", seconds(r.timeout), ended)
	case sandbox.OutputLimit:
		return notef("it wrote more than %s%s", output.Size(MaxOutput), ended)
	case sandbox.DiskLimit:
		return notef("the disk limit was reached%s%s", size(r.limits.Disk), ended)
	case sandbox.OutOfMemory:
		return notef("the memory limit was reached%s: %s in this sandbox", size(r.limits.Memory), killed(r.result.OOMKills))
	case sandbox.PidsLimit:
		return notef("the process limit was reached%s: %s in this sandbox", number(r.limits.Pids), failed(r.result.ForkFailures))
	default:
		return notef("%s", r.result.Status)
	}
}

// notices are further lines: what was killed or left, counters that rose
// beside another ending, the directory.
func (r report) notices() []note {
	var lines []note
	res := r.result
	if r.clamped {
		lines = append(lines, notef("timeout_seconds was more than the largest: %s s were used", seconds(r.timeout)))
	}
	if n := max(res.KilledCount, len(res.Killed)); n > 0 {
		// How many had begun by the time they were ended is chance.
		lines = append(lines, notef("ended: %s", passing(processes(res.Killed, n).text)))
	}
	if n := max(res.LeftCount, len(res.Left)); n > 0 {
		lines = append(lines, notef("%s in the background: %s", stillRuns(n), processes(res.Left, n)))
	}
	if res.OOMKills > 0 && res.Status != sandbox.OutOfMemory {
		lines = append(lines, notef("notice: the memory limit was reached%s: %s in this sandbox", size(r.limits.Memory), killed(res.OOMKills)))
	}
	if res.ForkFailures > 0 && res.Status != sandbox.PidsLimit {
		lines = append(lines, notef("notice: the process limit was reached%s: %s in this sandbox", number(r.limits.Pids), failed(res.ForkFailures)))
	}
	if r.renewed {
		lines = append(lines, fixed("the sandbox was lost since the last command, and a new one stands over the same workspace"), fixed(goneText))
	}
	if res.DirLost {
		lines = append(lines, notef("the folder %s could not be entered any more, so the command ran in the workspace's own folder", visibleName(r.from)))
	}
	if r.next != r.from {
		lines = append(lines, notef("the next command runs in %s", visibleName(r.next)))
	}
	return lines
}

// processes lists what is known of n processes. Their names are claims of
// untrusted code, and pass too: a process that has only just been forked still
// has the name of its shell.
func processes(list []sandbox.Process, n int) note {
	const shown = 10
	var names []note
	for _, p := range list[:min(len(list), shown)] {
		names = append(names, notef("%s", passing(fmt.Sprintf("%s (pid %d)", visibleName(p.Name), p.PID))))
	}
	more := n - len(names)
	switch {
	case len(names) == 0:
		return notef("%s not named", output.Count(int64(n), "process"))
	case more > 0:
		return notef("%s and %d more", joinNotes(names, ", "), more)
	default:
		return joinNotes(names, ", ")
	}
}

func stillRuns(n int) string {
	if n == 1 {
		return "1 process still runs"
	}
	return fmt.Sprintf("%d processes still run", n)
}

// killed and failed count what came of a limit. How often it did is an accident
// of the moment: a command that goes over a limit again may count another number.
func killed(n int) note {
	if n == 1 {
		return notef("%s", passing("1 process was killed for it"))
	}
	return notef("%s", passing(fmt.Sprintf("%d processes were killed for it", n)))
}

func failed(n int) note {
	if n == 1 {
		return notef("%s", passing("1 new process was refused"))
	}
	return notef("%s", passing(fmt.Sprintf("%d new processes were refused", n)))
}

func signalName(name string) string {
	if name == "" {
		return "a signal"
	}
	return visibleName(name)
}

// size and number put a limit in brackets, where it is known.
func size(n int64) string {
	if n <= 0 {
		return ""
	}
	return " (" + output.Size(n) + ")"
}

func number(n int64) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%d)", n)
}
