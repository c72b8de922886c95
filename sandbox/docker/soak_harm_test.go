//go:build soak

package docker_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belljar/belljar/images"
	"github.com/belljar/belljar/sandbox"
)

// newImage is the image of sandboxes that faults are tried on.
var newImage = images.Tag()

// A harmful is a command with a known answer, or one that does harm. Answers
// are given by builtins of the shell alone, which need no further process, so
// that harm which others do cannot change a code, only end the command.
type harmful struct {
	name   string
	cmd    sandbox.Command
	cancel time.Duration // after which it is given up; below 0 is never
	may    []sandbox.Status
	code   int    // where it exited
	free   bool   // any code will do: it harms itself
	stdout string // where it exited, and none is free
	stderr string
}

// others are the ends that come of what other commands do.
var others = []sandbox.Status{sandbox.Signaled, sandbox.OutOfMemory, sandbox.PidsLimit, sandbox.DiskLimit}

// harm chooses the nth command.
func (c *cell) harm(n int) harmful {
	mark := fmt.Sprintf("printf m >>mark-%d || exit 99; ", n)
	h := harmful{cancel: -1, may: slices.Concat(others, []sandbox.Status{sandbox.Exited})}
	long := strings.Repeat(fmt.Sprintf("%07d\n", n), 20_000)
	switch kind := c.chance(100); {
	case kind < 40:
		h.name, h.code = "answer", n%100
		h.cmd.Script = mark + fmt.Sprintf("echo out %d; echo err %d >&2; exit %d", n, n, h.code)
		h.stdout, h.stderr = fmt.Sprintf("out %d\n", n), fmt.Sprintf("err %d\n", n)
	case kind < 60:
		h.name = "long answer"
		h.cmd.Script = mark + fmt.Sprintf("for ((i = 0; i < 20000; i++)); do echo %07d; done", n)
		h.stdout = long
	case kind < 70:
		h.name = "input"
		h.cmd.Script = mark + `while read -r line; do echo "$line"; done`
		h.cmd.Stdin, h.stdout = strings.NewReader(long[:8000]), long[:8000]
	case kind < 76:
		h.name, h.cancel = "canceled", time.Duration(c.chance(400))*time.Millisecond
		h.cmd.Script = mark + "setsid sleep 600 & sleep 600; exit 1"
		h.may, h.free = append(h.may, sandbox.Canceled), true
	case kind < 82:
		h.name, h.cmd.Timeout = "timed out", time.Duration(1+c.chance(300))*time.Millisecond
		h.cmd.Script = mark + "setsid sleep 600 & sleep 600; exit 1"
		h.may, h.free = append(h.may, sandbox.TimedOut), true
	default:
		h.free = true
		h.cmd.Timeout = 5 * time.Second
		h.may = append(h.may, sandbox.TimedOut)
		worst := [...]struct{ name, script string }{
			{"supervisor killed", "kill -9 $PPID; sleep 1"},
			{"all killed", "kill -9 -1"},
			{"all stopped", "kill -STOP -1"},
			{"memory filled", "exec tail /dev/zero"},
			{"disk filled", "head -c 100M /dev/zero >big; sleep 1; rm -f big"},
			{"tmp filled", "head -c 100M /dev/zero >/tmp/big; rm -f /tmp/big"},
			{"processes filled", "for ((i = 0; i < 200; i++)); do sleep 600 & done; sleep 1"},
			{"streams closed", "exec >&- 2>&- <&-; sleep 0.1"},
			{"background", "setsid sleep 2 & sleep 2 & exit 0"},
		}[c.chance(9)]
		h.name, h.cmd.Script = worst.name, mark+worst.script
	}
	return h
}

// wrong says what is wrong with a result, "" for nothing.
func (h harmful) wrong(result sandbox.Result, stdout, stderr string, marks int) string {
	switch {
	case !slices.Contains(h.may, result.Status):
		return "it cannot end so"
	case h.free || result.Status != sandbox.Exited:
		return ""
	case *result.ExitCode == 99 && marks == 0:
		return "" // the disk was full of what others wrote
	case *result.ExitCode != h.code:
		return fmt.Sprintf("want the code %d; stderr %.200q", h.code, stderr)
	case marks != 1:
		return "it has not left its mark"
	case stdout != h.stdout || stderr != h.stderr:
		return fmt.Sprintf("it wrote %d bytes and %.80q, want %d bytes and %.80q", len(stdout), stderr, len(h.stdout), h.stderr)
	default:
		return ""
	}
}
