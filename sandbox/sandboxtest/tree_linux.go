package sandboxtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belljar/belljar/sandbox"
)

const (
	// markFD is the number of the open file that marks a command's processes.
	// Shells use the lowest free numbers from 10 on for themselves and let
	// scripts name those below 10, so this one stays.
	markFD = 99
	// killPatience bounds the killing of a tree. Only what cannot be killed,
	// such as a program with more rights, lasts longer than an instant.
	killPatience = 20 * time.Second
	// unsureScans bounds how often a scan that may have missed something is
	// repeated: on a busy machine some process always ends.
	unsureScans = 100
)

// A tree is the set of a command's processes. Its methods are not safe for
// concurrent use.
type tree struct {
	leader int    // the first process, 0 once it has been waited for
	mark   string // what markFD leads to, as /proc shows it
	since  uint64 // no process of the command is older, in clock ticks
	known  map[identity]struct{}
	// unsure says that some process ended during the last scan. It may have
	// been the tree's and have left a child that the scan does not know.
	unsure bool
	ended  map[identity]struct{} // zombies of the last scan
}

// An identity tells a process from a later one of the same number.
type identity struct {
	pid   int
	start uint64
}

// proc is one process as /proc/PID/stat tells it.
type proc struct {
	identity
	name            string
	state           byte
	parent, session int
}

// now is the time in the unit of /proc/PID/stat's start time.
func now() (uint64, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0, fmt.Errorf("reading the clock: %w", err)
	}
	const ticksPerSecond = 100 // USER_HZ, the same on every architecture
	return uint64(ts.Sec)*ticksPerSecond + uint64(ts.Nsec)*ticksPerSecond/1e9, nil
}

// scan lists the live processes of the tree.
func (t *tree) scan() ([]proc, error) {
	t.unsure = false
	candidates, err := t.candidates()
	if err != nil {
		return nil, err
	}
	// Sessions are told anew by each scan: with its last process gone, a
	// session's number may come to mean a stranger's.
	members, sessions := map[int]bool{}, map[int]bool{}
	if t.leader != 0 {
		sessions[t.leader] = true
	}
	var found []proc
	for grown := true; grown; {
		grown = false
		candidates = slices.DeleteFunc(candidates, func(p proc) bool {
			_, known := t.known[p.identity]
			if !known && !members[p.parent] && !sessions[p.session] && !t.marked(p.pid) {
				return false
			}
			members[p.pid], sessions[p.session] = true, true
			found = append(found, p)
			grown = true
			return true
		})
	}
	slices.SortFunc(found, func(a, b proc) int { return a.pid - b.pid })
	t.known = make(map[identity]struct{}, len(found))
	for _, p := range found {
		t.known[p.identity] = struct{}{}
	}
	return found, nil
}

// look is scan, repeated where it found nothing and may have missed something.
func (t *tree) look() (found []proc, err error) {
	for range unsureScans {
		if found, err = t.scan(); err != nil || len(found) > 0 || !t.unsure {
			break
		}
	}
	return found, err
}

// candidates lists the live processes that are young enough.
func (t *tree) candidates() ([]proc, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var list []proc
	ended := make(map[identity]struct{})
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		p, ok := readStat(pid)
		switch {
		case !ok:
			t.unsure = true
		case p.start < t.since:
		case p.over():
			ended[p.identity] = struct{}{}
			if _, before := t.ended[p.identity]; !before {
				t.unsure = true
			}
		default:
			list = append(list, p)
		}
	}
	t.ended = ended
	return list, nil
}

// readStat reads about one process; ok is false when there is none.
func readStat(pid int) (_ proc, ok bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return proc{}, false
	}
	return parseStat(pid, stat)
}

// over tells whether a process has ended and only waits to be waited for.
func (p proc) over() bool { return p.state == 'Z' || p.state == 'X' }

// parseStat reads one line of /proc/PID/stat. The name may hold anything,
// parentheses and newlines too, so the fields are those after the last one.
func parseStat(pid int, stat []byte) (proc, bool) {
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return proc{}, false
	}
	fields := strings.Fields(string(stat[end+1:]))
	// Counted from the state: 1 is the parent, 3 the session, 19 the start.
	if len(fields) < 20 {
		return proc{}, false
	}
	parent, err1 := strconv.Atoi(fields[1])
	session, err2 := strconv.Atoi(fields[3])
	start, err3 := strconv.ParseUint(fields[19], 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return proc{}, false
	}
	return proc{
		identity: identity{pid: pid, start: start},
		name:     string(stat[open+1 : end]), state: fields[0][0], parent: parent, session: session,
	}, true
}

// marked tells whether a process holds the file that the command started with.
func (t *tree) marked(pid int) bool {
	target, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, markFD))
	if err != nil {
		if p, ok := readStat(pid); !ok || p.over() {
			t.unsure = true
		}
	}
	return err == nil && target == t.mark
}

// kill ends every process of the tree and returns when none is left.
func (t *tree) kill() ([]proc, error) {
	killed := map[identity]struct{}{}
	var list []proc
	end := time.Now().Add(killPatience)
	for {
		found, err := t.look()
		if err != nil || len(found) == 0 {
			return list, err
		}
		if time.Now().After(end) {
			return list, fmt.Errorf("process %d (%s) does not end by SIGKILL; end it by hand", found[0].pid, found[0].name)
		}
		for _, p := range found {
			// An error means that it is gone, or that it may not be killed,
			// which the end of patience tells.
			unix.Kill(p.pid, unix.SIGKILL)
			if _, seen := killed[p.identity]; !seen {
				killed[p.identity] = struct{}{}
				list = append(list, p)
			}
		}
		// The kernel tells nobody but the parent of a process's end.
		time.Sleep(time.Millisecond)
	}
}

// report turns processes into what a result holds.
func report(found []proc) (list []sandbox.Process, count int) {
	for _, p := range found[:min(len(found), sandbox.MaxProcesses)] {
		list = append(list, sandbox.Process{PID: p.pid, Name: p.name})
	}
	return list, len(found)
}
