package supervisor

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"

	"github.com/belljar/belljar/internal/escape"
)

// Main serves one role and returns the exit code for the process. The args
// are those of InitArgs, ExecArgs, ForwardArgs or escape.Args.
func Main(args []string) int {
	// Init and spares rely on being the main thread of a process of few threads:
	// ptrace(2) ties a tracee to a thread, and SIGCHLD goes to the main
	// thread first.
	runtime.LockOSThread()
	// A spare is waited for, so it starts the rest when it has said that it is
	// ready.
	startThreads(1)
	switch {
	case args[2] == "exec" && len(args) == 3:
		return serve()
	case args[2] == "init" && len(args) >= 4:
		seconds, err := strconv.Atoi(args[3])
		giving, giveErr := parseGiving(args[4:])
		if err != nil || giveErr != nil || seconds <= 0 {
			break
		}
		startThreads(spareThreads)
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

// spareThreads is how many threads a role keeps beside those that it needs.
//
// With one processor the runtime needs one more thread than those that wait in
// system calls: it takes the processor from a long call and gives it to an idle
// thread. On its way back to sleep that thread counts as neither idle nor busy,
// and where the processor is taken again just then, yet another one is needed.
// On a machine under load that can happen several times in a row.
const spareThreads = 2

// startThreads makes the runtime start threads that it might otherwise want
// when the process limit is full already, which would end the program. They
// stay: the runtime never ends an idle thread.
func startThreads(n int) {
	var all, ends sync.WaitGroup
	release := make(chan struct{})
	all.Add(n)
	for range n {
		ends.Go(func() {
			// Those that are locked cannot share a thread.
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			all.Done()
			<-release
		})
	}
	all.Wait()
	close(release)
	ends.Wait()
}
