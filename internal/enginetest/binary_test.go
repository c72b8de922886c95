package enginetest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/belljar/belljar/internal/enginetest"
)

// TestBinaryRefused: a program of tests is not taken for belljar.
func TestBinaryRefused(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(enginetest.BinaryVariable, path)
	if got, err := enginetest.Binary(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("got %q, error %v, want that it is refused", got, err)
	}
}
