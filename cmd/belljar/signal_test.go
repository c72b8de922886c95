//go:build unix

package main

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"
)

// signalWait tells a signal that never arrives from one that does.
const signalWait = 30 * time.Second

func TestSignalsEndTheContext(t *testing.T) {
	for _, test := range []struct {
		name   string
		signal syscall.Signal
		code   int
	}{
		{"SIGINT", syscall.SIGINT, 130},
		{"SIGTERM", syscall.SIGTERM, 143},
		{"SIGHUP", syscall.SIGHUP, 143},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, stop := withSignals(t.Context(), func(code int) { t.Errorf("ended at once with %d", code) })
			defer stop()
			if err := syscall.Kill(syscall.Getpid(), test.signal); err != nil {
				t.Fatal(err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(signalWait):
				t.Fatal("the signal did not end the context")
			}
			var cause *signalError
			if !errors.As(context.Cause(ctx), &cause) || cause.name() != test.name || cause.code() != test.code {
				t.Errorf("cause %v", context.Cause(ctx))
			}
		})
	}
}

func TestSecondInterruptEndsAtOnce(t *testing.T) {
	codes := make(chan int, 1) // one, so that the handler never waits for the test
	ctx, stop := withSignals(t.Context(), func(code int) { codes <- code })
	defer stop()
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	// Two signals of a kind that are both pending are one.
	<-ctx.Done()
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case code := <-codes:
		if code != 130 {
			t.Errorf("exit code %d", code)
		}
	case <-time.After(signalWait):
		t.Fatal("the second interrupt did nothing")
	}
}
