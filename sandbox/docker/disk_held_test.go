package docker

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/diskusage"
	"github.com/belljar/belljar/sandbox"
)

// TestDiskWatchFiles counts files as well as bytes.
func TestDiskWatchFiles(t *testing.T) {
	passed := 0
	w := newDiskWatch(64*sandbox.MiB, time.Now(), func(diskAmount) { passed++ })
	p := &place{usage: diskusage.Usage{Files: 50_000}}
	w.begin(t.Context(), []diskPart{p.part()})
	const limit = 64 << 20 / fileBytes
	for _, step := range []struct {
		name  string
		files int64
		over  bool
	}{
		{"just below", 50_000 + limit - 1, false},
		{"at the limit", 50_000 + limit, true},
		{"a few more, to free some", 50_000 + limit + fileSlack - 1, false},
		{"too many more", 50_000 + limit + fileSlack, true},
		{"all removed", 50_000, false},
		{"the whole limit is back", 50_000 + limit - 1, false},
	} {
		before, trip := passed, w.current()
		p.usage = diskusage.Usage{Files: step.files, Fullest: []diskusage.Folder{{Path: "many", Files: 7}}}
		w.look(t.Context())
		if over := passed > before; over != step.over || closed(trip.done) != step.over {
			t.Errorf("%s: over = %v, told = %v, want %v", step.name, over, closed(trip.done), step.over)
		}
		if step.over && !strings.Contains(trip.reason, `16384 may be, most of it in "/workspace/many" (7)`) {
			t.Errorf("%s: reason = %q", step.name, trip.reason)
		}
	}
}

func TestDiskLimits(t *testing.T) {
	for _, test := range []struct {
		bytes int64
		want  diskAmount
	}{
		{sandbox.MiB, diskAmount{sandbox.MiB, leastFiles}},
		{sandbox.GiB, diskAmount{sandbox.GiB, 262144}},
	} {
		if got := diskLimits(test.bytes); got != test.want {
			t.Errorf("diskLimits(%d) = %+v, want %+v", test.bytes, got, test.want)
		}
	}
}

// TestDiskWatchHeld counts what was deleted and is held open in the place where
// it was. What only lost its name there was not added.
func TestDiskWatchHeld(t *testing.T) {
	const mib = sandbox.MiB
	w := newDiskWatch(100*mib, time.Now(), func(diskAmount) {})
	workspace, layer := &place{usage: diskusage.Usage{Total: 500 * mib}}, &place{}
	part := layer.part()
	part.shown = ""
	held := map[string]int64{}
	w.held = func(_ context.Context, tell func(string, int64)) {
		for file, bytes := range held {
			tell(file, bytes)
		}
	}
	w.begin(t.Context(), []diskPart{workspace.part(), part})
	trip := w.current()
	workspace.usage.Total, held["/workspace/old"] = 100*mib, 400*mib
	w.look(t.Context())
	if closed(trip.done) {
		t.Errorf("a file that was there and lost its name counts: %s", trip.reason)
	}
	held["/var/cache/a"], held["/var/cache/b"], held["/workspacex"] = 30*mib, 40*mib, 20*mib
	w.look(t.Context())
	if closed(trip.done) || w.parts[1].grown != (diskAmount{90 * mib, 3}) {
		t.Errorf("grown = %+v, over = %v, want 90 MiB in 3 files", w.parts[1].grown, closed(trip.done))
	}
	held["/var/cache/c"] = 60 * mib
	w.look(t.Context())
	if !closed(trip.done) || !strings.Contains(trip.reason, `"/var/cache/c (deleted)" (60 MiB)`) {
		t.Errorf("over = %v, reason %q", closed(trip.done), trip.reason)
	}
}

func TestPlaceOf(t *testing.T) {
	w := &diskWatch{parts: []diskPart{{shown: sandbox.MountPoint}, {shown: ""}, {shown: "/var/data"}}}
	got := map[string]int{}
	for _, file := range []string{"/workspace/a", "/workspace", "/workspaces", "/var/data/x/y", "/var/datab", "/", ""} {
		got[file] = w.placeOf(file)
	}
	want := map[string]int{"/workspace/a": 0, "/workspace": 0, "/workspaces": 1, "/var/data/x/y": 2, "/var/datab": 1, "/": 1, "": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	w.parts = w.parts[:1]
	if got := w.placeOf("/elsewhere"); got != 0 {
		t.Errorf("what is in no place counts in %d, want the first", got)
	}
}
