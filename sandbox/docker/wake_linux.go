package docker

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belljar/belljar/internal/supervisor"
)

// holdBound is how long continueSupervisors tries to stop all else. Something
// new may be forked in each round, and a container that has used up its share
// of the processors stops late.
const holdBound = time.Second

// A member is a process of a container, held by a descriptor so that its number
// cannot become another's.
type member struct {
	fd     int
	pid    int // here
	parent int // here
	inside supervisor.Proc
	state  byte // see proc_pid_stat(5)
}

// signal sends a signal, 0 for none, and tells whether it may. One to a process
// that is gone is as good as sent.
func (m member) signal(sig unix.Signal) bool {
	return unix.PidfdSendSignal(m.fd, sig, nil, 0) != unix.EPERM
}

// running tells whether a process can do something before it is stopped.
func (m member) running() bool { return m.state == 'R' || m.state == 'S' }

// mayStop tells whether a process is to get the signal that stops it: what waits
// for a disk takes it when it goes on.
func (m member) mayStop() bool { return !strings.ContainsRune("TtZX", rune(m.state)) }

// first tells whether it is the first process of the container.
func (m member) first() bool { return m.inside.PID == 1 }

// members are the processes of this machine in a container: those of its control
// group, and of the namespace of its first process, which what the engine starts
// is in a moment before. There are none without that first process: the engine
// may be on another machine, behind a socket of this one.
func members(container string) []member {
	numbers, others := grouped(container)
	var (
		list  []member
		space string
	)
	for _, pid := range numbers {
		if m, ok := hold(pid, func() bool { return inGroup(pid, container) }); ok {
			list = append(list, m)
			if m.first() {
				space = namespace(pid)
			}
		}
	}
	if !slices.ContainsFunc(list, member.first) {
		release(list)
		return nil
	}
	for _, pid := range others {
		if space == "" || namespace(pid) != space {
			continue
		}
		if m, ok := hold(pid, func() bool { return namespace(pid) == space }); ok {
			list = append(list, m)
		}
	}
	return list
}

// grouped are the numbers of the processes in the control group of a container,
// and of all others.
func grouped(container string) (in, others []int) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, nil
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		switch {
		case err != nil:
		case inGroup(pid, container):
			in = append(in, pid)
		default:
			others = append(others, pid)
		}
	}
	return in, others
}

// processesOf are the numbers of the processes of this machine in a container.
func processesOf(container string) []int {
	in, _ := grouped(container)
	return in
}

func inGroup(pid int, container string) bool {
	groups, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	return err == nil && bytes.Contains(groups, []byte(container))
}

// namespace is that of a process's numbers, "" where that cannot be seen: only
// root sees that of others.
func namespace(pid int) string {
	link, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/pid")
	return link
}

// hold takes hold of a process, and looks at it if it is still the one that was
// meant. One that has no number of its own inside is none of a container.
func hold(pid int, meant func() bool) (member, bool) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return member{}, false
	}
	m := member{fd: fd, pid: pid}
	if !meant() || !m.look() {
		unix.Close(fd)
		return member{}, false
	}
	return m, true
}

// look fills in what is known of a process that is held.
func (m *member) look() bool {
	at := "/proc/" + strconv.Itoa(m.pid)
	status, err1 := os.ReadFile(at + "/status")
	stat, err2 := os.ReadFile(at + "/stat")
	if err1 != nil || err2 != nil {
		return false
	}
	for line := range strings.Lines(string(status)) {
		if numbers, found := strings.CutPrefix(line, "NSpid:"); found {
			if of := strings.Fields(numbers); len(of) > 1 {
				m.inside.PID, _ = strconv.Atoi(of[len(of)-1]) // 0 is refused below
			}
		}
	}
	// The name may hold anything, so the fields are those after its end: the
	// state, the parent and, as the twentieth, the start.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 || m.inside.PID == 0 {
		return false
	}
	m.state = fields[0][0]
	m.parent, err1 = strconv.Atoi(fields[1])
	m.inside.Start, err2 = strconv.ParseUint(fields[19], 10, 64)
	return err1 == nil && err2 == nil
}

// release gives up processes.
func release(list []member) {
	for _, m := range list {
		unix.Close(m.fd)
	}
}

// fromOutside are those whose parent is not in the container: its first process,
// and supervisors. Orphans go to the supervisor above them, or to the first
// process, so nothing else has such a parent.
func fromOutside(list []member) map[int]bool {
	known, outside := make(map[int]bool), make(map[int]bool)
	for _, m := range list {
		known[m.pid] = true
	}
	for _, m := range list {
		outside[m.pid] = !known[m.parent]
	}
	return outside
}

// mayContinue tells whether there is a container of that name here whose
// processes may be signaled.
func mayContinue(container string) bool {
	list := members(container)
	defer release(list)
	others := slices.DeleteFunc(slices.Clone(list), member.first)
	return len(others) > 0 && !slices.ContainsFunc(others, func(m member) bool { return !m.signal(0) })
}

// continueStuck continues what is stopped in a container if a supervisor is
// among it, and tells whether one was that may be continued. What a command has
// stopped on purpose stays so else.
func continueStuck(container string) bool {
	list := members(container)
	defer release(list)
	outside := fromOutside(list)
	if !slices.ContainsFunc(list, func(m member) bool { return outside[m.pid] && m.state == 'T' && m.signal(0) }) {
		return false
	}
	continueEach(list)
	return true
}

// continueAll continues what is stopped in a container.
func continueAll(container string) {
	list := members(container)
	defer release(list)
	continueEach(list)
}

func continueEach(list []member) {
	for _, m := range list {
		if m.state == 'T' {
			m.signal(unix.SIGCONT)
		}
	}
}

// continueSupervisors continues the supervisors in a container, and stops what
// else runs in it, the supervisors among the victims included. It tells whether
// nothing was left that had to be stopped.
func continueSupervisors(container string, victims []supervisor.Proc) bool {
	for end := time.Now().Add(holdBound); time.Now().Before(end); time.Sleep(time.Millisecond) {
		list := members(container)
		count, may := holdOnce(list, victims)
		release(list)
		switch {
		case len(list) == 0 || !may:
			return false
		case count == 0:
			return true
		}
	}
	return false
}

// holdOnce is one round of it. It tells how much ran that was stopped, and
// whether everything may be signaled.
func holdOnce(list []member, victims []supervisor.Proc) (count int, may bool) {
	outside, may := fromOutside(list), true
	for _, m := range list {
		victim := slices.ContainsFunc(victims, func(v supervisor.Proc) bool { return v.PID == m.inside.PID && v.Start == m.inside.Start })
		switch {
		case m.first():
		case outside[m.pid] && !victim:
			if m.state == 'T' {
				may = m.signal(unix.SIGCONT) && may
			}
		case m.mayStop():
			may = m.signal(unix.SIGSTOP) && may
			if m.running() {
				count++
			}
		}
	}
	return count, may
}
