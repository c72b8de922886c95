package docker

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/system"
	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/diskusage"
	"github.com/belljar/belljar/sandbox"
)

// A place is a diskPart whose size a test sets.
type place struct {
	usage diskusage.Usage
	err   error
}

func (p *place) part() diskPart {
	return diskPart{shown: "/workspace", measure: func(context.Context, time.Time) (diskusage.Usage, error) { return p.usage, p.err }}
}

// TestDiskWatch goes through the life of a sandbox, one look after another.
func TestDiskWatch(t *testing.T) {
	const mib = sandbox.MiB
	var passed []int64
	w := newDiskWatch(100*mib, time.Now(), func(grown diskAmount) { passed = append(passed, grown.bytes) })
	old, broken := &place{usage: diskusage.Usage{Total: 500 * mib, Fresh: 0}}, &place{err: errors.New("no")}
	w.begin(t.Context(), []diskPart{old.part(), broken.part()})
	for _, step := range []struct {
		name  string
		total int64
		over  bool
	}{
		{"less than before", 400 * mib, false},
		{"just below", 600*mib - 1, false},
		{"at the limit", 600 * mib, true},
		{"a little more, to free space", 610 * mib, false},
		{"too much more", 616 * mib, true},
		{"some freed", 610 * mib, false},
		{"what was freed, again", 626 * mib, true},
		{"all freed", 500 * mib, false},
		{"the whole limit is back", 599 * mib, false},
		{"over once more", 601 * mib, true},
	} {
		before, trip := len(passed), w.current()
		old.usage = diskusage.Usage{Total: step.total, Largest: []diskusage.Entry{{Path: "a\nb", Bytes: 3 * mib}}}
		w.look(t.Context())
		if over := len(passed) > before; over != step.over || closed(trip.done) != step.over {
			t.Errorf("%s: over = %v, told = %v, want %v", step.name, over, closed(trip.done), step.over)
		}
		if step.over && (!strings.Contains(trip.reason, `"/workspace/a\nb" (3 MiB)`) || strings.Contains(trip.reason, "\n")) {
			t.Errorf("%s: reason = %q", step.name, trip.reason)
		}
	}
	old.err = errors.New("cannot be read any more")
	w.look(t.Context())
	if w.parts[0].grown.bytes != 101*mib {
		t.Errorf("a failure changed what is known: %d", w.parts[0].grown.bytes)
	}
	// A place that could not be measured is tried again, and what is fresh there
	// was added in the sandbox.
	broken.err, broken.usage = nil, diskusage.Usage{Total: 700 * mib, Fresh: 30 * mib}
	before := len(passed)
	w.look(t.Context())
	if w.parts[1].grown.bytes != 30*mib || len(passed) != before+1 {
		t.Errorf("what came to light late: grown %d, told %d times, want 30 MiB and once more", w.parts[1].grown.bytes, len(passed)-before)
	}
}

// TestDiskWatchFill brings content from outside, far more than the limit.
func TestDiskWatchFill(t *testing.T) {
	const mib = sandbox.MiB
	w := newDiskWatch(10*mib, time.Now(), func(diskAmount) {})
	p := &place{}
	w.begin(t.Context(), []diskPart{p.part()})
	trip := w.current()
	err := w.fill(func() error {
		p.usage = diskusage.Usage{Total: 500 * mib, Fresh: 500 * mib}
		if w.due(time.Now().Add(time.Hour)) {
			t.Error("a look is due while content comes")
		}
		w.look(t.Context()) // one that was under way
		return errors.New("its error")
	})
	if err == nil || err.Error() != "its error" {
		t.Errorf("error = %v, want that of the function", err)
	}
	if !w.due(time.Now()) {
		t.Error("no look is due after content came")
	}
	p.usage.Fresh = 0 // all of it came before
	w.look(t.Context())
	if closed(trip.done) || w.parts[0].grown.bytes != 0 || w.due(time.Now()) {
		t.Errorf("the content counts as %d bytes, over = %v", w.parts[0].grown.bytes, closed(trip.done))
	}
	p.usage.Total, p.usage.Fresh = 510*mib, 10*mib
	w.look(t.Context())
	if !closed(trip.done) {
		t.Error("what was added after the content is not counted")
	}
	var none *diskWatch
	if err := none.fill(func() error { return nil }); err != nil {
		t.Errorf("without a limit: %v", err)
	}
}

// TestDiskWatchHidden counts what cannot be looked into.
func TestDiskWatchHidden(t *testing.T) {
	dir := t.TempDir()
	used, _, err := diskusage.Space(dir)
	if err != nil {
		t.Skip(err)
	}
	hidden := &place{usage: diskusage.Usage{Hidden: 1}}
	part := hidden.part()
	part.dir, part.atStart = dir, diskAmount{bytes: used - sandbox.GiB}
	part.look(t.Context(), time.Now())
	// Others may free and take some meanwhile.
	if part.grown.bytes < sandbox.GiB/2 || part.grown.bytes > 2*sandbox.GiB {
		t.Errorf("grown = %d, want about what the file system took in", part.grown.bytes)
	}
	hidden.usage.Hidden = 0
	part.look(t.Context(), time.Now())
	if part.grown.bytes != 0 {
		t.Errorf("grown = %d with nothing hidden, want 0", part.grown.bytes)
	}
}

func TestNoDiskWatch(t *testing.T) {
	var none *diskWatch
	if closed(none.current().done) {
		t.Error("a sandbox without a limit is over it")
	}
}

func TestQuota(t *testing.T) {
	xfs := [][2]string{{"Backing Filesystem", "xfs"}}
	want := map[string]string{"size": strconv.FormatInt(sandbox.MiB+quotaRoom, 10)}
	for _, test := range []struct {
		name string
		info system.Info
		spec sandbox.Spec
		want map[string]string
	}{
		{"overlay2 on xfs", system.Info{Driver: "overlay2", DriverStatus: xfs}, sandbox.Spec{}, want},
		{"overlay2 on ext4", system.Info{Driver: "overlay2", DriverStatus: [][2]string{{"Backing Filesystem", "extfs"}}}, sandbox.Spec{}, nil},
		{"btrfs", system.Info{Driver: "btrfs"}, sandbox.Spec{}, want},
		{"zfs", system.Info{Driver: "zfs"}, sandbox.Spec{}, want},
		{"vfs", system.Info{Driver: "vfs"}, sandbox.Spec{}, nil},
		{"no limit", system.Info{Driver: "btrfs"}, sandbox.Spec{Limits: sandbox.Limits{Disk: sandbox.NoLimit}}, nil},
		{"nothing to write", system.Info{Driver: "btrfs"}, sandbox.Spec{RootFS: sandbox.RootReadOnly}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := test.spec
			if spec.RootFS == "" {
				spec.RootFS = sandbox.RootWritable
			}
			if spec.Limits.Disk == 0 {
				spec.Limits.Disk = sandbox.MiB
			}
			p := &plan{engine: &Engine{info: system.Info{Driver: test.info.Driver, DriverStatus: test.info.DriverStatus}}, spec: spec}
			if diff := cmp.Diff(test.want, p.quota()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	refusal := errors.New("--storage-opt is supported only for overlay over xfs with 'pquota' mount option")
	if !noQuota(refusal) || noQuota(errors.New("no such image")) {
		t.Error("a refusal of the size is not told from another error")
	}
}

func TestUlimits(t *testing.T) {
	names := func(list []*container.Ulimit) (out []string) {
		for _, u := range list {
			out = append(out, u.String())
		}
		return out
	}
	if diff := cmp.Diff([]string{"nofile=9:9", "core=0:0", "msgqueue=262144:262144", "sigpending=1024:1024", "fsize=77:77"}, names(ulimits(sandbox.Limits{NoFile: 9, Disk: 77}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"nofile=9:9", "core=0:0", "msgqueue=262144:262144", "sigpending=1024:1024"}, names(ulimits(sandbox.Limits{NoFile: 9, Disk: sandbox.NoLimit}))); diff != "" {
		t.Errorf("without a limit (-want +got):\n%s", diff)
	}
}
