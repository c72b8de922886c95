//go:build linux

package docker_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
)

// writeOn fills a folder with files, each far below the limit on single ones.
const writeOn = "i=0; while :; do head -c 1M /dev/zero >DIR/f$i; i=$((i + 1)); done"

// TestDiskLimitOfVolume writes to a volume that the image declares, which is on
// disk however the root file system is mounted.
func TestDiskLimitOfVolume(t *testing.T) {
	engine := connect(t)
	seen := observe(t, engine)
	spec := devSpec(t)
	spec.RootFS = sandbox.RootReadOnly
	spec.Image = seen.changed(t, "VOLUME /srv/data")
	spec.Limits.Disk = 24 * sandbox.MiB
	sb := start(t, engine, spec)
	got := execute(t, sb, sandbox.Command{Script: strings.ReplaceAll(writeOn, "DIR", "/srv/data"), Timeout: time.Minute})
	if got.err != nil || got.result.Status != sandbox.DiskLimit {
		t.Fatalf("got %s, error %v, output %q, want the disk limit", describe(got.result), got.err, got.output)
	}
	if os.Getuid() == 0 && !strings.Contains(got.result.Reason, `"/srv/data/f`) {
		t.Errorf("the reason %q does not name what grew", got.result.Reason)
	}
}

// TestDiskLimitAfterFill brings far more than the limit into the workspace
// before the first command, as a pool does.
func TestDiskLimitAfterFill(t *testing.T) {
	engine := connect(t)
	spec := newSpec(t, os.Getuid(), os.Getgid())
	spec.Limits.Disk = 24 * sandbox.MiB
	sb := start(t, engine, spec)
	err := sb.(sandbox.Filler).Fill(func() error {
		return os.WriteFile(filepath.Join(spec.Workspace, "content"), make([]byte, 64<<20), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := script(t, sb, "head -c 4M /dev/zero >own && sleep 1; echo fine"); got != "fine\n" {
		t.Errorf("a command over the content: %q", got)
	}
	got := execute(t, sb, sandbox.Command{Script: strings.ReplaceAll(writeOn, "DIR", "."), Timeout: time.Minute})
	if got.err != nil || got.result.Status != sandbox.DiskLimit || strings.Contains(got.result.Reason, `/content"`) {
		t.Errorf("got %s, error %v, want the disk limit for what was added after", describe(got.result), got.err)
	}
}
