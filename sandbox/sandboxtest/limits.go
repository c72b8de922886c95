package sandboxtest

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
)

// small asks for a sandbox whose limits are quickly reached.
func small(spec *sandbox.Spec) {
	spec.Limits.Memory = 128 * sandbox.MiB
	spec.Limits.Pids = 64
}

// limitTests check that limits are in force and can be read inside.
func limitTests() []test {
	return []test{
		{"Default", func(t *testing.T, s *suite) { testLimitsSeen(t, s.shared(t)) }},
		{"Small", func(t *testing.T, s *suite) {
			b := s.start(t, small)
			if got := b.Info().Limits; got.Memory != 128*sandbox.MiB || got.Pids != 64 {
				t.Errorf("Limits = %+v, want those asked for", got)
			}
			testLimitsSeen(t, b)
		}},
	}
}

// firstOf prints the first of some files that can be read.
func firstOf(files ...string) string {
	return "cat " + strings.Join(files, " 2>/dev/null || cat ") + " 2>/dev/null"
}

func testLimitsSeen(t *testing.T, b *box) {
	t.Helper()
	limits := b.Info().Limits
	for _, c := range []struct {
		name, script string
		want         int64
	}{
		{"memory", firstOf("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"), limits.Memory},
		{"processes", firstOf("/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"), limits.Pids},
		{"open files", "ulimit -n", limits.NoFile},
		{"file size", "ulimit -f | { read -r kib; echo $((kib * 1024)); }", limits.Disk},
	} {
		out := b.script(t, c.script)
		wantExit(t, out, 0)
		if got := strings.TrimSpace(out.stdout); c.want <= 0 || got != strconv.FormatInt(c.want, 10) {
			t.Errorf("%s: %q inside, %d in Info", c.name, got, c.want)
		}
	}
	out := b.script(t, "cat /sys/fs/cgroup/cpu.max 2>/dev/null || "+
		"echo $(cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us) $(cat /sys/fs/cgroup/cpu/cpu.cfs_period_us)")
	var quota, period float64
	if _, err := fmt.Sscan(out.stdout, &quota, &period); err != nil || period <= 0 || math.Abs(quota/period-limits.CPUs) > 0.01 {
		t.Errorf("processors: %q inside (%v), %v in Info", out.stdout, err, limits.CPUs)
	}
	// Info tells the in-memory file systems' sizes; df tells them inside.
	for dir, want := range map[string]int64{"/tmp": limits.Tmp, `"$HOME"`: limits.Home, "/dev/shm": limits.Shm} {
		if want == 0 {
			continue // a folder of the writable layer
		}
		out := b.script(t, "df -P -k "+dir+" | { read -r head; read -r dev blocks rest; echo $blocks; }")
		if blocks, err := strconv.ParseInt(strings.TrimSpace(out.stdout), 10, 64); err != nil || blocks*1024 != want {
			t.Errorf("%s: %q KiB inside, %d bytes in Info", dir, out.stdout, want)
		}
	}
}

// counterTests check that a limit that was reached is told by the counters,
// not by a code.
func counterTests() []test {
	return []test{
		{"OutOfMemory", testOutOfMemory},
		{"OutOfMemoryHandled", testOutOfMemoryHandled},
		{"NotOutOfMemory", testNotOutOfMemory},
		{"ForkFailures", testForkFailures},
	}
}

// allocate takes memory until there is none: tail keeps the whole of a line
// that does not end.
const allocate = "tail /dev/zero"

func testOutOfMemory(t *testing.T, s *suite) {
	b := s.start(t, small)
	for _, c := range []struct{ name, script string }{
		{"child takes the script with it", "set -e; echo before; " + allocate + "; echo after"},
		{"last command", "echo before; " + allocate},
		{"shell replaced", "echo before; exec " + allocate},
		{"code passed on", "echo before; " + allocate + " || exit 3"},
		{"shell itself", "echo before; x=$(head -c 300000000 /dev/zero | tr '\\0' x); echo after"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := b.script(t, c.script)
			wantStatus(t, out, sandbox.OutOfMemory)
			if out.OOMKills < 1 {
				t.Errorf("OOMKills = %d, want at least 1", out.OOMKills)
			}
			wantOutput(t, out, "before\n")
			wantExit(t, b.script(t, "exit 3"), 3)
		})
	}
}

func testOutOfMemoryHandled(t *testing.T, s *suite) {
	b := s.start(t, small)
	out := b.script(t, allocate+"; echo $?; exit 0")
	wantExit(t, out, 0)
	wantOutput(t, out, "137\n")
	if out.OOMKills < 1 {
		t.Errorf("OOMKills = %d, want at least 1", out.OOMKills)
	}
	out = b.script(t, "exit 0") // the rise belongs to the command before
	wantExit(t, out, 0)
	if out.OOMKills != 0 {
		t.Errorf("OOMKills of the next command = %d, want 0", out.OOMKills)
	}
}

func testNotOutOfMemory(t *testing.T, s *suite) {
	b := s.shared(t)
	for _, c := range []struct {
		cmd    sandbox.Command
		status sandbox.Status
	}{
		{sandbox.Command{Script: "kill -9 $$"}, sandbox.Signaled},
		{sandbox.Command{Script: "exit 137"}, sandbox.Exited},
		{sandbox.Command{Script: "sleep 600", Timeout: time.Second}, sandbox.TimedOut},
		{sandbox.Command{Script: "yes", OutputLimit: 1000}, sandbox.OutputLimit},
	} {
		out := b.run(t, c.cmd)
		wantStatus(t, out, c.status)
		if out.OOMKills != 0 || out.ForkFailures != 0 {
			t.Errorf("%s: OOMKills = %d, ForkFailures = %d, want 0, 0", describe(c.cmd), out.OOMKills, out.ForkFailures)
		}
	}
}

func testForkFailures(t *testing.T, s *suite) {
	b := s.start(t, small)
	mark := newMark()
	// bash goes on trying for a while, so there is a time limit.
	out := b.run(t, sandbox.Command{
		Script:  "i=0; while [ $i -lt 200 ]; do sleep " + mark + " & i=$((i+1)); done; wait",
		Timeout: 30 * time.Second,
	})
	wantStatus(t, out, sandbox.PidsLimit, sandbox.TimedOut)
	if out.ForkFailures < 1 {
		t.Errorf("ForkFailures = %d, want at least 1", out.ForkFailures)
	}
	out = b.script(t, "echo ok")
	wantExit(t, out, 0)
	wantOutput(t, out, "ok\n")
}

// processLimitTests check that a sandbox whose process limit is full can
// still be cleared.
func processLimitTests() []test { return []test{{"Bombs", testBombs}} }

func testBombs(t *testing.T, s *suite) {
	const sessions = `cat >bomb.sh <<'BOMB'
#!/bin/sh
setsid "$0" "$1" &
setsid "$0" "$1" &
wait
BOMB
chmod +x bomb.sh; `
	for _, c := range []struct {
		name, script string
		statuses     []sandbox.Status
	}{
		// The shell of this one may well end before the limit is full.
		{"plain", "b() { b | b & }; b", []sandbox.Status{sandbox.PidsLimit, sandbox.TimedOut, sandbox.Exited}},
		{"waited for", "sh -c 'b() { b | b & }; b; sleep MARK' MARK; sleep MARK", []sandbox.Status{sandbox.PidsLimit, sandbox.TimedOut}},
		{"spinning", "sh -c 'b() { b & b & while :; do :; done; }; b' MARK", []sandbox.Status{sandbox.PidsLimit, sandbox.TimedOut}},
		{"signals ignored", "trap '' TERM HUP INT; sh -c 'b() { b & b & while :; do :; done; }; b' MARK", []sandbox.Status{sandbox.PidsLimit, sandbox.TimedOut}},
		{"new sessions", sessions + "./bomb.sh MARK; sleep MARK", []sandbox.Status{sandbox.PidsLimit, sandbox.TimedOut}},
	} {
		t.Run(c.name, func(t *testing.T) {
			// One of its own, so that what is wrong with one case is not
			// told of the next.
			b := s.start(t, small)
			mark := newMark()
			out := b.run(t, sandbox.Command{
				Script: strings.ReplaceAll(c.script, "MARK", mark), Timeout: 5 * time.Second,
			})
			wantStatus(t, out, c.statuses...)
			next := b.script(t, "echo ok")
			wantExit(t, next, 0)
			wantOutput(t, next, "ok\n")
			if out.Status != sandbox.Exited {
				b.wantGone(t, mark)
			}
		})
	}
}
