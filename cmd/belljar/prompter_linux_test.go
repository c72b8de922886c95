package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestTypedAhead asserts that what was typed before a question stood is not
// taken as its answer, however long it took to show it, and that what is typed as
// soon as it stands is. The asking is done by a process in the foreground of a
// terminal of its own, which types as well.
func TestTypedAhead(t *testing.T) {
	const inside = "BELLJAR_TEST_TYPED_AHEAD"
	if when := os.Getenv(inside); when != "" {
		askAndType(t, when)
		return
	}
	for when, want := range map[string]string{"before": "allowed: false", "at once": "allowed: true"} {
		t.Run(when, func(t *testing.T) {
			screen, terminal := openTerminal(t)
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTypedAhead$")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
			cmd.ExtraFiles = []*os.File{screen}
			cmd.Env = append(os.Environ(), inside+"="+when, "BELLJAR_TEST_ENGINE=skip")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			terminal.Close()
			shown := readScreen(screen)
			shown.await(t, want)
			<-shown.ended
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v\n%s", err, shown)
			}
		})
	}
}

// askAndType asks a question that is answered before it stands, or as soon as it
// does.
func askAndType(t *testing.T, when string) {
	keyboard := os.NewFile(3, "the other end of the terminal")
	typed := func() {
		if _, err := io.WriteString(keyboard, "y\n"); err != nil {
			t.Error(err)
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(os.Stdin.Fd()), Events: unix.POLLIN}}, int(scriptTimeout.Milliseconds()))
		if n != 1 || err != nil {
			t.Errorf("waiting for what is typed: %d, %v", n, err)
		}
	}
	show := func(_ string, ready func()) func(bool) {
		if when == "before" {
			typed()
		}
		ready()
		if when == "at once" {
			typed()
		}
		return func(bool) {}
	}
	ctx := t.Context()
	if when == "before" { // nobody answers
		limited, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		ctx = limited
	}
	fmt.Println("allowed:", newPrompter(os.Stdin, show).askHost(ctx, "x.invalid", 443))
}
