package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// A signalError is the cause of a context that ended because somebody sent
// this process a signal.
type signalError struct{ signal syscall.Signal }

func (e *signalError) Error() string { return "interrupted by " + e.name() }

// Unwrap makes a signal one kind of cancellation.
func (e *signalError) Unwrap() error { return context.Canceled }

func (e *signalError) name() string {
	switch e.signal {
	case syscall.SIGINT:
		return "SIGINT"
	case syscall.SIGHUP:
		return "SIGHUP"
	case syscall.SIGQUIT:
		return "SIGQUIT"
	default:
		return "SIGTERM"
	}
}

// code is the exit code of a program that a signal ended; HUP counts as TERM.
func (e *signalError) code() int {
	switch e.signal {
	case syscall.SIGINT:
		return exitInterrupted
	case syscall.SIGQUIT:
		// Not the code 2 and the dump of stacks that Go has for it.
		return exitSignalBase + int(syscall.SIGQUIT)
	default:
		return exitTerminated
	}
}

// withSignals gives a context that INT, TERM, HUP and QUIT end, with a signalError
// as the cause. A second INT calls exit, which ends the process at once: the
// sandbox's lease removes the container then. stop gives the signals back.
func withSignals(parent context.Context, exit func(int)) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	// Two: a signal that comes while the first is being handled must not be
	// lost, and more than two say nothing new.
	signals := make(chan os.Signal, 2)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		// A signal that the parent had ignored stays so: nohup and
		// background jobs of a script rely on it.
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
	// A reader that went away is an error of the write, not a sudden end:
	// there may be a container to remove. One slot, never read.
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)

	done := make(chan struct{}) // closed when the goroutine below has ended
	quit := make(chan struct{}) // closed to end it
	go func() {
		defer close(done)
		for count := 0; ; count++ {
			select {
			case <-quit:
				return
			case sig := <-signals:
				if count > 0 && sig == syscall.SIGINT {
					exit(exitInterrupted)
				}
				if number, ok := sig.(syscall.Signal); ok {
					cancel(&signalError{number})
				}
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		signal.Stop(pipes)
		close(quit)
		<-done
		cancel(nil)
	}
}
