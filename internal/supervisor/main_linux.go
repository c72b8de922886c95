package supervisor

import (
	"fmt"
	"os"
	"runtime"
	"strconv"

	"github.com/belljar/belljar/internal/escape"
)

// Main serves one role and returns the exit code for the process. The args
// are those of InitArgs, ExecArgs, ForwardArgs or escape.Args.
func Main(args []string) int {
	// Init and spares rely on being the main thread of a process of few threads:
	// ptrace(2) ties a tracee to a thread, and SIGCHLD goes to the main
	// thread first.
	runtime.LockOSThread()
	startThreads()
	switch {
	case args[2] == "exec" && len(args) == 3:
		return serve()
	case args[2] == "init" && len(args) >= 4:
		seconds, err := strconv.Atoi(args[3])
		giving, giveErr := parseGiving(args[4:])
		if err != nil || giveErr != nil || seconds <= 0 {
			break
		}
		return initMain(seconds, giving)
	case args[2] == "escape" && len(args) == 3:
		return escape.Main(os.Stdout)
	case args[2] == "forward":
		if port, seconds, socket, ok := forwardArgs(args); ok {
			return forward(port, seconds, socket)
		}
	}
	fmt.Fprintln(os.Stderr, "belljar: this command line is for belljar's own use inside a container")
	return 125
}

// startThreads makes the runtime start the thread that it would otherwise want
// at the first long system call, when the process limit may be full already.
// The main thread is locked, so the goroutine needs another one.
func startThreads() {
	started := make(chan struct{})
	go close(started)
	<-started
}
