package docker_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
)

// TestSignalsToTheSupervisor has commands send their supervisor every signal
// that it can survive: each still ends with its own code and all its output.
func TestSignalsToTheSupervisor(t *testing.T) {
	sb := start(t, connect(t), newSpec(t, os.Getuid(), os.Getgid()))
	// Not KILL and STOP, and not those that the C libraries keep for
	// themselves (32 to 34), which a Go program cannot take either.
	signals := "{1..8} {10..18} {20..31} {35..64}"
	for _, target := range []string{"$PPID", "0"} {
		text := fmt.Sprintf("trap : {1..8} {10..17} {20..31} {35..64}; for s in %s; do kill -$s %s; done; echo end; exit 5", signals, target)
		t.Run(target, func(t *testing.T) {
			got := try(t.Context(), sb, sandbox.Command{Script: text, Timeout: 30 * time.Second})
			if got.err != nil || got.result.Status != sandbox.Exited || *got.result.ExitCode != 5 || got.output != "end\n" {
				t.Errorf("%s, error %v, output %q; want code 5 and its line", describe(got.result), got.err, got.output)
			}
		})
	}
	if got := script(t, sb, "echo next"); got != "next\n" {
		t.Errorf("the next command said %q", got)
	}
}
