package docker

import (
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
	parent int    // its parent's number here
	inside int    // its own number in the container
	state  byte   // see proc_pid_stat(5)
	group  string // its control groups
	space  string // its namespace of processes, "" where that cannot be seen
}

// members are the processes of this machine in a container: those of its control
// group, and of the namespace of its first process, which what the engine starts
// is in a moment before. The engine may be on another machine after all, behind a
// socket of this one; then there are none.
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
	var list, others []member
	space := ""
	for _, name := range names {
		m, ok := look(name)
		switch {
		case !ok:
			continue
		case strings.Contains(m.group, container):
			list = append(list, m)
			if m.inside == 1 {
				space = m.space
			}
		default:
			others = append(others, m)
		}
	}
	for _, m := range others {
		if space != "" && m.space == space {
			list = append(list, m)
		} else {
			release([]member{m})
		}
	}
	return list
}

// look looks at a process that is named by its number, and holds it.
func look(name string) (member, bool) {
	pid, err := strconv.Atoi(name)
	if err != nil {
		return member{}, false
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return member{}, false
	}
	m := member{Process: process}
	at := "/proc/" + name
	group, err1 := os.ReadFile(at + "/cgroup")
	status, err2 := os.ReadFile(at + "/status")
	if err1 != nil || err2 != nil {
		release([]member{m})
		return member{}, false
	}
	m.group = string(group)
	m.space, _ = os.Readlink(at + "/ns/pid") // only root sees that of others
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
	return m, true
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
