package docker

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belljar/belljar/internal/diskusage"
	"github.com/belljar/belljar/sandbox"
)

// TestOverDisk lets commands end by themselves while the watch has not yet seen
// what they wrote.
func TestOverDisk(t *testing.T) {
	const mib = sandbox.MiB
	code := func(n int) sandbox.Result { return sandbox.Result{Status: sandbox.Exited, ExitCode: &n} }
	for _, tt := range []struct {
		name   string
		result sandbox.Result
		grown  int64 // what is there now
		told   bool  // the space taken tells it
		want   sandbox.Status
		reason string // part of it, "" for none
	}{
		{"a full file", code(fileSizeCode), 10 * mib, false, sandbox.DiskLimit, `"/workspace/big"`},
		{"by the signal", sandbox.Result{Status: sandbox.Signaled, Signal: fileSizeSignal}, 10 * mib, false, sandbox.DiskLimit, `"/workspace/big"`},
		{"a program that is told", code(1), 10 * mib, true, sandbox.DiskLimit, `"/workspace/big"`},
		{"a limit of its own", code(fileSizeCode), mib, false, sandbox.Exited, "disk limit of 10 MiB"},
		{"a failure of another kind", code(1), mib, false, sandbox.Exited, ""},
		{"success", code(0), 10 * mib, true, sandbox.Exited, ""},
		{"memory", sandbox.Result{Status: sandbox.OutOfMemory}, 10 * mib, true, sandbox.OutOfMemory, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				p := &place{}
				w := newDiskWatch(10*mib, time.Now(), func(diskAmount) {})
				go w.run(ctx, []diskPart{p.part()})
				synctest.Wait()
				p.usage = diskusage.Usage{Total: tt.grown, Fresh: tt.grown, Largest: []diskusage.Entry{{Path: "big", Bytes: tt.grown}}}
				if tt.told {
					w.parts[0].grown.bytes = tt.grown
				}
				b := &box{disk: w}
				b.info.Limits.Disk = 10 * mib
				result := tt.result
				(&run{box: b, disk: w.current()}).overDisk(&result)
				if result.Status != tt.want || !strings.Contains(result.Reason, tt.reason) || (result.Reason == "") != (tt.reason == "") {
					t.Errorf("%s, reason %q; want %s, %q", result.Status, result.Reason, tt.want, tt.reason)
				}
				if tt.want == sandbox.DiskLimit && (result.ExitCode != nil || result.Signal != "") {
					t.Errorf("it has code %v and signal %q besides", result.ExitCode, result.Signal)
				}
			})
		})
	}
}

// TestDiskCheckGivesUp asks a watch that does not answer, and none.
func TestDiskCheckGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDiskWatch(1, time.Now(), func(diskAmount) {})
		began := time.Now()
		w.check(w.current(), true)
		if took := time.Since(began); took != askWait {
			t.Errorf("it waited %v, want %v", took, askWait)
		}
	})
	var none *diskWatch
	none.check(none.current(), true)
}
