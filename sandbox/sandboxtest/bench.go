package sandboxtest

import (
	"testing"

	"github.com/belljar/belljar/sandbox"
)

// BenchmarkExec measures a warm command: the script "true" in a sandbox that
// has already run one. The sandbox is closed at the end.
func BenchmarkExec(b *testing.B, runtime sandbox.Runtime, spec sandbox.Spec) {
	sb, err := runtime.Start(b.Context(), spec)
	if err != nil {
		b.Fatalf("starting a sandbox: %v", err)
	}
	b.Cleanup(func() {
		if err := sb.Close(); err != nil {
			b.Errorf("Close: %v", err)
		}
	})
	command := sandbox.Command{Script: "true"}
	exec := func() {
		result, err := sb.Exec(b.Context(), command)
		if err != nil || result.Status != sandbox.Exited || *result.ExitCode != 0 {
			b.Fatalf("got %s, error %v, want exited 0", show(result), err)
		}
	}
	exec()
	b.ReportAllocs()
	for b.Loop() {
		exec()
	}
}
