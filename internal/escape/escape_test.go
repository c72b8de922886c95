package escape_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/escape"
)

// child makes the test binary make the attempts, in a process of its own:
// where they are let through they may change it.
const child = "BELLJAR_ESCAPE_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(child) != "" {
		os.Exit(escape.Main(os.Stdout))
	}
	os.Exit(m.Run())
}

// TestAttemptsAreAllMade makes the attempts outside of any sandbox, where a
// good part of them must be let through: an attempt that fails everywhere
// proves nothing. What is let through does nothing.
func TestAttemptsAreAllMade(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no sandbox runs here")
	}
	// Unprivileged, so that the attempts cannot hurt the machine that the
	// tests run on; and as a copy that such a user can run.
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "attempts")
	content, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, content, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	restrict(cmd)
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	findings, err := escape.Read(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	through := 0
	for _, f := range findings {
		key := fmt.Sprint(f.Area, "/", f.Name)
		if names[key] || f.Name == "" || f.Detail == "" {
			t.Errorf("a finding that says too little, or the same twice: %+v", f)
		}
		names[key] = true
		if !f.Denied {
			through++
		}
	}
	if through == 0 {
		t.Error("outside of a sandbox every attempt was denied: they prove nothing")
	}
}

func TestReadWantsEveryArea(t *testing.T) {
	var whole strings.Builder
	for _, area := range escape.Areas() {
		fmt.Fprintf(&whole, "{\"area\":%q,\"name\":\"n\",\"denied\":true}\n", area)
	}
	got, err := escape.Read(strings.NewReader(whole.String()))
	if err != nil || len(got) != len(escape.Areas()) {
		t.Errorf("got %d findings, error %v", len(got), err)
	}
	if diff := cmp.Diff(escape.Finding{Area: escape.Mounts, Name: "n", Denied: true}, got[0]); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"", "no json", whole.String()[:whole.Len()/2], whole.String() + "{"} {
		if _, err := escape.Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q is taken for the whole of it", text)
		}
	}
}
