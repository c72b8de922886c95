package diskusage_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/diskusage"
)

// TestDeleted has files without a name open, mapped, twice and in memory.
func TestDeleted(t *testing.T) {
	dir := t.TempDir()
	unlinked := func(path string) *os.File {
		t.Helper()
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		if _, err := file.Write(make([]byte, 64<<10)); err != nil {
			t.Fatal(err)
		}
		if err := file.Sync(); err != nil { // blocks are given when it is written out
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		return file
	}
	open := unlinked(filepath.Join(dir, "open"))
	again, err := syscall.Dup(int(open.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(again)
	mapped := unlinked(filepath.Join(dir, "mapped"))
	memory, err := syscall.Mmap(int(mapped.Fd()), 0, 4096, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(memory) }()
	mapped.Close()
	if in, err := os.MkdirTemp("/dev/shm", "belljar-test-"); err == nil {
		defer os.RemoveAll(in)
		unlinked(filepath.Join(in, "in memory"))
	}
	write(t, dir, "named", 64<<10)
	named, err := os.Open(filepath.Join(dir, "named"))
	if err != nil {
		t.Fatal(err)
	}
	defer named.Close()

	want := map[string]int64{filepath.Join(dir, "open"): 64 << 10}
	if os.Getuid() == 0 { // only root may look at what is mapped
		want[filepath.Join(dir, "mapped")] = 64 << 10
	}
	got := map[string]int64{}
	diskusage.Deleted(t.Context(), []int{os.Getpid()}, func(path string, bytes int64) {
		if filepath.Dir(path) == dir || filepath.Base(path) == "in memory" {
			got[path] += bytes
		}
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("deleted and held (-want +got):\n%s", diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	diskusage.Deleted(ctx, []int{os.Getpid()}, func(path string, _ int64) { t.Errorf("%s was told after the end", path) })
}
