//go:build linux

package docker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
)

// TestDevSideBySide has many commands of root run side by side over a workspace
// of many files. When one has ended, what it made is the owner's already.
func TestDevSideBySide(t *testing.T) {
	engine := connect(t)
	uid, gid := devOwner()
	spec := devSpec(t)
	for i := range 20 {
		dir := filepath.Join(spec.Workspace, fmt.Sprintf("old%d", i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for k := range 100 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(k)), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	sb := start(t, engine, spec)
	const workers, each = 4, 10
	began := time.Now()
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := range each {
				name := fmt.Sprintf("made-%d-%d", worker, i)
				got := try(t.Context(), sb, sandbox.Command{Script: "mkdir " + name + " && echo x >" + name + "/f"})
				if got.err != nil || got.result.Status != sandbox.Exited || *got.result.ExitCode != 0 || got.result.Reason != "" {
					t.Errorf("a command: %s, error %v, output %q", describe(got.result), got.err, got.output)
				}
				wantIds(t, filepath.Join(spec.Workspace, name), uid, gid)
				wantIds(t, filepath.Join(spec.Workspace, name, "f"), uid, gid)
			}
		})
	}
	within(t, hang, "commands side by side", group.Wait)
	t.Logf("%d commands took %v", workers*each, time.Since(began))
}
