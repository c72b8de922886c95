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
// taken as its answer, however long it took to show it. The asking is done by a
// process in the foreground of a terminal of its own.
func TestTypedAhead(t *testing.T) {
	const inside = "BELLJAR_TEST_TYPED_AHEAD"
	if os.Getenv(inside) != "" {
		askLate(t)
		return
	}
	screen, terminal := openTerminal(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTypedAhead$")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.Env = append(os.Environ(), inside+"=1", "BELLJAR_TEST_ENGINE=skip")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	shown := readScreen(screen)
	shown.await(t, "about to ask")
	if _, err := io.WriteString(screen, "y\n"); err != nil {
		t.Fatal(err)
	}
	shown.await(t, "allowed: false")
	<-shown.ended
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, shown)
	}
}

// askLate asks a question that is shown only once something was typed.
func askLate(t *testing.T) {
	show := func(string) func(bool) {
		fmt.Println("about to ask")
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(os.Stdin.Fd()), Events: unix.POLLIN}}, int(scriptTimeout.Milliseconds()))
		if n != 1 || err != nil {
			t.Errorf("waiting for what is typed: %d, %v", n, err)
		}
		return func(bool) {}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	fmt.Println("allowed:", newPrompter(os.Stdin, show).askHost(ctx, "x.invalid", 443))
}
