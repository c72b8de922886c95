// Package supervisor is the part of belljar that runs inside a container: the
// same executable, mounted read-only.
//
// It has three roles. As init it is PID 1: it keeps the container alive, reaps,
// and ends the container when its owner is gone. As a spare it is an exec that
// was started ahead: it starts a shell, waits for one script, hands it over,
// waits for the shell with wait(2) and writes a trailer that says how it
// ended. The shell is a process of its own, so nothing that a script does to
// its shell can suppress or change the trailer. As forwarder it passes the
// connections of a sandbox on to its host, from a container of its own.
//
// A spare can also be told to end the processes of other spares. It does that
// without fork, exec or a new thread, so that a container whose process limit
// is full can still be cleared.
//
// Init and spares are single-threaded in what they do, on purpose: the Go runtime
// ends a program that cannot start a thread, and at a full process limit no
// thread can be started. Environ has the runtime settings that this relies on.
//
// What a spare says can be forged by the command that it ran, since both have
// the same user. Callers treat a trailer as a claim about its own command.
package supervisor

import "fmt"

// keyword marks a command line as one for this package.
const keyword = "__belljar"

// InitArgs are the arguments that make the executable at path a container's
// PID 1, which ends after the given seconds without a byte from its owner.
// Where there is something to give it does so in the end.
func InitArgs(path string, leaseSeconds int, giving *Giving) []string {
	return append([]string{path, keyword, "init", fmt.Sprint(leaseSeconds)}, giving.args()...)
}

// ForwardArgs are the arguments that make the executable at path pass
// connections to a port of loopback on to a Unix socket. It writes Magic once
// it does, or else says why not and ends; its end is that of init.
func ForwardArgs(path string, port, leaseSeconds int, socket string) []string {
	return []string{path, keyword, "forward", fmt.Sprint(port), fmt.Sprint(leaseSeconds), socket}
}

// ExecArgs are the arguments that make the executable at path a spare.
func ExecArgs(path string) []string { return []string{path, keyword, "exec"} }

// ForwardEnviron is the environment for ForwardArgs. It bounds the memory and
// nothing else: its container has processes to spare.
func ForwardEnviron() []string { return []string{"GOMEMLIMIT=24MiB"} }

// Environ is the environment that the other roles must be started with: one
// processor, and a collector that runs only when memory is short, so that the
// runtime has no reason to start threads late.
func Environ() []string {
	return []string{"GOMAXPROCS=1", "GOGC=off", "GOMEMLIMIT=24MiB", "GODEBUG=asyncpreemptoff=1"}
}

// Wanted tells whether a command line is one for Main.
func Wanted(args []string) bool { return len(args) >= 3 && args[1] == keyword }
