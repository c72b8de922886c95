package diskusage_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/diskusage"
)

func write(t *testing.T, dir, name string, size int) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(strings.Repeat("x", size)); err != nil {
		t.Fatal(err)
	}
	// Blocks are given to a file when it is written out.
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestMeasure(t *testing.T) {
	const mib = 1 << 20
	dir, outside := t.TempDir(), t.TempDir()
	write(t, outside, "far", 8*mib)
	for name, size := range map[string]int{"big": 4 * mib, "a/b/second": 2 * mib, "a/small1": 300_000, "a/small2": 300_000} {
		write(t, dir, name, size)
	}
	for _, err := range []error{
		os.Symlink(outside, filepath.Join(dir, "link")),
		os.Symlink(dir, filepath.Join(dir, "a/loop")),
		os.Link(filepath.Join(dir, "big"), filepath.Join(dir, "again")),
		os.Truncate(filepath.Join(outside, "far"), 1<<30),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	got, err := diskusage.Measure(t.Context(), dir, past)
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(6*mib + 600_000); got.Total < want || got.Total > want+mib/2 || got.Fresh != got.Total {
		t.Errorf("Total = %d, Fresh = %d, want both about %d: a second name, a hole or a link was counted", got.Total, got.Fresh, want)
	}
	var paths []string
	for _, entry := range got.Largest {
		paths = append(paths, strings.Replace(entry.Path, "again", "big", 1)) // either name
	}
	if diff := cmp.Diff([]string{"big", "a/b/second", "a"}, paths); diff != "" {
		t.Errorf("largest (-want +got):\n%s", diff)
	}
	// The folders a and a/b, four files and two links.
	if got.Files != 8 || got.FreshFiles != 8 {
		t.Errorf("Files = %d, FreshFiles = %d, want 8 each", got.Files, got.FreshFiles)
	}
	// The file with two names counts in either folder.
	if full := got.Fullest; len(full) != 3 || full[0].Path != "a" || full[0].Files < 4 || full[0].Files > 5 {
		t.Errorf("Fullest = %v, want three, the first a with 4 or 5", full)
	}
	old, err := diskusage.Measure(t.Context(), dir, future)
	if err != nil || old.Fresh != 0 || old.Total != got.Total || len(old.Largest) != 0 || old.Files != got.Files || old.FreshFiles != 0 || len(old.Fullest) != 0 {
		t.Errorf("nothing was changed since, but got %+v, error %v", old, err)
	}
}

func TestMeasureCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := diskusage.Measure(ctx, t.TempDir(), time.Time{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want the context's", err)
	}
}

func TestSpace(t *testing.T) {
	used, free, err := diskusage.Space(t.TempDir())
	if err != nil || used < 0 || free <= 0 {
		t.Errorf("Space = %d, %d, %v", used, free, err)
	}
	if _, _, err := diskusage.Space(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error of a missing folder = %v", err)
	}
}
