package docker

import (
	"bytes"
	"fmt"
	"strings"
	"syscall"

	"github.com/containerd/errdefs"
)

// linuxSignals are the names of the signals that a container's processes know,
// by number, see signal(7). The host's own may differ.
const linuxSignals = "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS"

// signalName names a Linux signal, such as "SIGKILL".
func signalName(number int) string {
	names := bytes.Fields([]byte(linuxSignals))
	if number >= 1 && number <= len(names) {
		return "SIG" + string(names[number-1])
	}
	return fmt.Sprintf("SIG%d", number)
}

// Linux error numbers that starting a program can end with, see errno(3).
const (
	linuxENOENT  = 2
	linuxE2BIG   = 7
	linuxENOEXEC = 8
	linuxEAGAIN  = 11
	linuxENOMEM  = 12
	linuxEACCES  = 13
	linuxENOTDIR = 20
)

// startErrorText says why a program could not be started, and which code a
// shell ends with then.
func startErrorText(errno int) (text string, code int) {
	switch errno {
	case linuxENOENT, linuxENOTDIR:
		return "not found in the sandbox", 127
	case linuxEACCES:
		return "may not be executed", 126
	case linuxENOEXEC:
		return "is no program for this machine", 126
	case linuxE2BIG:
		return "the arguments and environment are too long", 126
	case linuxEAGAIN:
		return "the process limit is reached", 126
	case linuxENOMEM:
		return "not enough memory to start it", 126
	default:
		return fmt.Sprintf("could not be started (%v)", syscall.Errno(errno)), 126
	}
}

// isNotFound tells that an engine does not know what it was asked about. Podman
// has an error of its own for a container that is being removed meanwhile.
func isNotFound(err error) bool {
	return err != nil && (errdefs.IsNotFound(err) || strings.Contains(err.Error(), "no such container"))
}

// lastWins keeps the last value of each variable, as a shell would.
func lastWins(env [][]byte) [][]byte {
	seen := map[string]int{}
	out := make([][]byte, 0, len(env))
	for _, kv := range env {
		name, _, _ := bytes.Cut(kv, []byte("="))
		if i, ok := seen[string(name)]; ok {
			out[i] = kv
			continue
		}
		seen[string(name)] = len(out)
		out = append(out, kv)
	}
	return out
}
