//go:build soak

package docker_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A sample is what is there at one moment at which no command runs.
type sample map[gauge]int64

// A gauge is one thing that must stay flat.
type gauge string

const (
	goroutines  gauge = "goroutines"
	openFiles   gauge = "open files"
	heap        gauge = "heap"           // bytes in use after a collection
	resident    gauge = "resident"       // bytes of this process
	processes   gauge = "processes"      // in the container
	zombies     gauge = "zombies"        // in the container
	execs       gauge = "execs"          // that the engine lists for the container
	initMemory  gauge = "PID 1 resident" // bytes
	initFiles   gauge = "PID 1 open files"
	supervisors gauge = "supervisors resident" // bytes, the largest of them
	engineFiles gauge = "engine open files"
)

// slack is by how much a gauge may differ between two halves of a run for
// other reasons than a leak. The engine serves others, too.
var slack = map[gauge]int64{
	goroutines: 8, openFiles: 8, heap: 1 << 20, resident: 12 << 20,
	processes: 2, zombies: 1, execs: 1, initMemory: 2 << 20, initFiles: 1, supervisors: 4 << 20, engineFiles: 400,
}

// sample takes a sample of this process, of a container and of the engine.
// What this process may not look into is left out.
func (o observer) sample(t *testing.T, id string, engine int) sample {
	t.Helper()
	s := sample{}
	s[processes] = int64(o.settled(t, id))
	runtime.GC()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	s[goroutines], s[heap] = int64(runtime.NumGoroutine()), int64(mem.HeapAlloc)
	s[resident] = residentOf(os.Getpid())
	s.files(openFiles, os.Getpid())
	if engine != 0 {
		s.files(engineFiles, engine)
	}
	found := o.inspect(t, id)
	s[execs] = o.listedExecs(t, id)
	s.files(initFiles, found.State.Pid)
	top, err := o.ContainerTop(t.Context(), id, []string{"-eo", "pid,stat,rss,args"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range top.Processes {
		pid, _ := strconv.Atoi(p[0])
		kilobytes, _ := strconv.ParseInt(p[2], 10, 64)
		switch {
		case strings.HasPrefix(p[1], "Z"):
			s[zombies]++
		case pid == found.State.Pid:
			s[initMemory] = kilobytes << 10
		default:
			s[supervisors] = max(s[supervisors], kilobytes<<10)
		}
	}
	if s[initMemory] == 0 {
		t.Fatalf("PID 1 (%d) is not among the processes of the container: %v", found.State.Pid, top.Processes)
	}
	return s
}

// listedExecs is how many execs the engine lists for a container, once it has
// come to the end of those that ended: on a busy machine it is hundreds behind.
func (o observer) listedExecs(t *testing.T, id string) int64 {
	t.Helper()
	const calm, patience = 10 * time.Second, 6 * time.Minute
	least, since := len(o.inspect(t, id).ExecIDs), time.Now()
	for began := since; time.Since(since) < calm && time.Since(began) < patience; time.Sleep(500 * time.Millisecond) {
		if n := len(o.inspect(t, id).ExecIDs); n < least {
			least, since = n, time.Now()
		}
	}
	return int64(least)
}

// files counts the open files of a process, where this one may see them.
func (s sample) files(g gauge, pid int) {
	if list, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "fd")); err == nil {
		s[g] = int64(len(list))
	}
}

// residentOf is how many bytes of memory a process takes, 0 where that cannot
// be seen (proc_pid_statm(5)).
func residentOf(pid int) int64 {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// enginePID is the process at the other end of the engine's socket, 0 where
// that is no process of an engine that can be looked into.
func enginePID(host string) int {
	path, ok := strings.CutPrefix(host, "unix://")
	if !ok {
		return 0
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return 0
	}
	defer conn.Close()
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0
	}
	pid := 0
	_ = raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(peer.Pid)
		}
	})
	name, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
	if err != nil || strings.TrimSpace(string(name)) != "dockerd" {
		return 0
	}
	return pid
}

// wantFlat compares the second half of samples with the first. The first
// sample of all is of a process that has not warmed up.
func wantFlat(t *testing.T, samples []sample) {
	t.Helper()
	if len(samples) < 5 {
		t.Fatalf("%d samples say nothing, at least 5 are needed", len(samples))
	}
	samples = samples[1:]
	half := len(samples) / 2
	for g, allowed := range slack {
		before, after := median(samples[:half], g), median(samples[half:], g)
		t.Logf("%-20s %12d -> %d", g, before, after)
		if after-before > allowed {
			t.Errorf("%s grew from %d in the first half to %d in the second, at most %d more are due to chance", g, before, after, allowed)
		}
	}
}

func median(samples []sample, g gauge) int64 {
	var values []int64
	for _, s := range samples {
		values = append(values, s[g])
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func (s sample) String() string {
	var parts []string
	for g, v := range s {
		parts = append(parts, fmt.Sprintf("%s %d", g, v))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
