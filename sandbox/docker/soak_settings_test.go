//go:build soak

package docker_test

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// Soak tests take long, so they have a build tag of their own and are run by
// "make soak". The environment says how much they do.
const (
	commandsVariable  = "BELLJAR_SOAK_COMMANDS"  // of TestSoakFlat
	faultsVariable    = "BELLJAR_SOAK_FAULTS"    // commands of TestSoakFaults
	sandboxesVariable = "BELLJAR_SOAK_SANDBOXES" // of TestSoakSandboxes
	seedVariable      = "BELLJAR_SOAK_SEED"      // of what is chosen by chance
)

// setting is a number from the environment, or what is usual.
func setting(t *testing.T, variable string, usual int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		t.Fatalf("%s is %q, want a number above 0", variable, text)
	}
	return n
}

// newSeed is the seed from the environment or a new one. It is printed, so that
// a run can choose the same again; what comes when is up to the machine.
func newSeed(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(setting(t, seedVariable, int(time.Now().UnixNano()&0xffffff)+1))
	t.Logf("%s=%d chooses the same again", seedVariable, seed)
	return seed
}
