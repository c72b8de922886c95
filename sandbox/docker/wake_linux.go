package docker

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// holdRounds is how many rounds of continueSupervisors are made. Something new
// may be forked in each.
const holdRounds = 20

// A member is a process of a container, held so that its number cannot become
// another's.
type member struct {
	*os.Process
	parent int  // its parent's number here
	inside int  // its own number in the container
	state  byte // see proc_pid_stat(5)
}

// members are the processes of this machine in the control group of a
// container. The engine may be on another machine after all, behind a socket of
// this one; then there are none.
func members(container string) []member {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var list []member
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		process, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		if m, ok := memberOf(container, process); ok {
			list = append(list, m)
		} else {
			process.Release()
		}
	}
	return list
}

// memberOf looks at a process that is held.
func memberOf(container string, process *os.Process) (member, bool) {
	at := fmt.Sprintf("/proc/%d/", process.Pid)
	groups, err := os.ReadFile(at + "cgroup")
	if err != nil || !bytes.Contains(groups, []byte(container)) {
		return member{}, false
	}
	status, err := os.ReadFile(at + "status")
	if err != nil {
		return member{}, false
	}
	m := member{Process: process}
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) < 2:
		case fields[0] == "State:":
			m.state = fields[1][0]
		case fields[0] == "PPid:":
			m.parent, _ = strconv.Atoi(fields[1])
		case fields[0] == "NSpid:":
			m.inside, _ = strconv.Atoi(fields[len(fields)-1])
		}
	}
	return m, m.inside > 0
}

// release gives up processes.
func release(list []member) {
	for _, m := range list {
		_ = m.Release() // there is nothing to lose
	}
}

// continueAll continues what is stopped in a container.
func continueAll(container string) (any bool) {
	list := members(container)
	defer release(list)
	for _, m := range list {
		if m.state == 'T' && m.Signal(syscall.SIGCONT) == nil {
			any = true
		}
	}
	return any
}

// continueSupervisors continues the supervisors in a container, and stops what
// else runs in it, the supervisors among the victims included. Its first process
// can be neither. It tells whether nothing was left that had to be stopped.
func continueSupervisors(container string, victims []int) bool {
	for range holdRounds {
		if list := members(container); len(list) == 0 || holdOnce(list, victims) == 0 {
			return len(list) > 0
		}
	}
	return false
}

// holdOnce is one round of it, which tells how much it has stopped. It gives the
// processes up.
func holdOnce(list []member, victims []int) (count int) {
	defer release(list)
	known := make(map[int]bool)
	for _, m := range list {
		known[m.Pid] = true
	}
	for _, m := range list {
		// Only the engine starts processes whose parent is outside: orphans go
		// to the supervisor above them, or to the first process.
		supervisor := !known[m.parent] && !slices.Contains(victims, m.inside)
		switch {
		case m.inside == 1:
		case supervisor && m.state == 'T':
			_ = m.Signal(syscall.SIGCONT) // one that is gone is as good
		case !supervisor && (m.state == 'R' || m.state == 'S') && m.Signal(syscall.SIGSTOP) == nil:
			count++
		}
	}
	return count
}
