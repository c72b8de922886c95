package supervisor

import (
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// killBound is how long a Kill may take before it says that it did not get
// there. Bombs at a limit of 512 were seen to take a third of a second, and a
// process that is in the middle of filling gigabytes on a slow machine seconds.
const killBound = 14 * time.Second

// freezeBound is how long it is tried to stop the victims before they are
// killed. Some cannot be stopped: a process that waits for the exec of a child
// of vfork(2), or whose first thread has ended.
const freezeBound = time.Second

// gentleRounds is how many rounds of stopping only the victims are tried
// before everything of this user is stopped at once, and gentlePids up to how
// many processes and threads in the container. Among many that want the
// processor a single round may take seconds.
const (
	gentleRounds = 6
	gentlePids   = 32
)

// kill ends the processes that a request names and returns what it ended, and
// whether a last look found none of it alive.
//
// Victims are stopped before any is killed: stopped processes cannot fork, so
// the set stops growing, and since each victim's supervisor takes in orphans,
// everything that belongs to it stays below it until the supervisor goes last.
// Where stopping one by one does not catch up with a bomb, kill -STOP -1 stops
// all at once; it spares PID 1 and the caller.
func (s *spare) kill(req Request) Reply {
	k := killer{req: req, self: s.self.PID, table: &s.table, seen: map[int]uint64{}, stopped: map[int]uint64{}}
	if (len(req.Victims) > 0 || req.All) && field(s.counters.pids, "") > gentlePids {
		k.freezeAll()
	}
	k.resolve()
	dir := k.shellDir()
	clean := false
	k.freeze(time.Now().Add(freezeBound))
	end := time.Now().Add(killBound)
	// Once every victim has its SIGKILL, the supervisors go too: a shell that
	// is traced ends only after its tracer looked, and that one is stopped.
	// What they held comes to PID 1, which reaps it.
	for time.Now().Before(end) {
		k.table.read()
		if _, fresh := k.round(unix.SIGKILL, false); fresh == 0 {
			break
		}
	}
	for wait := int64(1); time.Now().Before(end); wait = min(wait+1, 20) {
		k.table.read()
		if sent, _ := k.round(unix.SIGKILL, true); sent == 0 {
			clean = k.denied == 0
			break
		}
		pause(wait)
	}
	if k.frozen || req.Thaw {
		_ = rawKill(-1, unix.SIGCONT)
	}
	s.reapAll()
	return Reply{Killed: k.killed, Count: k.count, Clean: clean, Dir: dir, KnownLeft: k.knownLeft()}
}

// reapAll takes the children of this supervisor that have ended, but for the
// shell that it waits for.
func (s *spare) reapAll() {
	if s.ahead != nil {
		return // a waiting shell has no orphans, and its end is not ours to take
	}
	var status unix.WaitStatus
	for {
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
	}
}

// A killer is one Kill under way.
type killer struct {
	req     Request
	self    int
	roots   []int // victims that still are who they were
	groups  []int // sessions that are the victims' own
	table   *table
	seen    map[int]uint64 // start time by pid of what was counted
	killed  []Proc
	count   int
	stopped map[int]uint64 // start time by pid of what got a SIGSTOP
	frozen  bool
	denied  int // victims of the last round that may not be signaled
}

// freezeAll stops everything of this user but PID 1 and the caller, see
// kill(2). It goes through the processes under the kernel's lock, so nothing
// is forked past it.
func (k *killer) freezeAll() {
	k.frozen = true
	_ = rawKill(-1, unix.SIGSTOP)
}

// freeze stops the victims until a look finds none that runs.
func (k *killer) freeze(end time.Time) {
	for round := 0; time.Now().Before(end); round++ {
		k.table.read()
		if round == gentleRounds && !k.frozen {
			k.freezeAll()
			continue
		}
		if sent, _ := k.round(unix.SIGSTOP, true); sent == 0 {
			return
		}
		pause(1)
	}
}

// round sends a signal to each victim that still needs it. It returns how many
// there were, and how many of them get their first SIGKILL. Supervisors are
// left out unless they are asked for.
func (k *killer) round(sig unix.Signal, supervisors bool) (sent, fresh int) {
	k.denied = 0
	for _, p := range k.table.procs {
		if !p.alive() || !k.victim(p) || !supervisors && k.supervisor(p.PID) {
			continue
		}
		if sig == unix.SIGSTOP && (p.state == 'T' || p.state == 't' || k.stopped[p.PID] == p.Start && p.state != 'R' && p.state != 'S') {
			continue
		}
		if errno := rawKill(p.PID, sig); errno != 0 {
			if errno == unix.EPERM {
				k.denied++
			}
			continue
		}
		sent++
		if sig == unix.SIGSTOP {
			k.stopped[p.PID] = p.Start
		}
		if sig == unix.SIGKILL && k.seen[p.PID] != p.Start {
			k.seen[p.PID] = p.Start
			fresh++
			if !k.supervisor(p.PID) {
				k.count++
				k.killed = p.appendTo(k.killed)
			}
		}
	}
	return sent, fresh
}

// resolve sorts out which victims are still there. The kernel gives a number
// to no new process while a session of that number has members, so where the
// number is not taken by another process the session is still the victim's.
func (k *killer) resolve() {
	k.table.read()
	for _, victim := range k.req.Victims {
		i, ok := k.table.index[victim.PID]
		if ok && k.table.procs[i].Start != victim.Start {
			continue
		}
		if ok {
			k.roots = append(k.roots, victim.PID)
		}
		k.groups = append(k.groups, victim.PID)
	}
	// What a victim that is gone has left is not below it any more.
	k.req.Orphans = k.req.Orphans || len(k.roots) < len(k.req.Victims)
}

// shellDir reads where the only victim's shell is: its first child, since
// orphans come to it only later.
func (k *killer) shellDir() []byte {
	if len(k.roots) != 1 {
		return nil
	}
	var shell process
	for _, p := range k.table.procs {
		if p.parent == k.roots[0] && (shell.PID == 0 || p.Start < shell.Start || p.Start == shell.Start && p.PID < shell.PID) {
			shell = p
		}
	}
	if shell.PID == 0 {
		return nil
	}
	link := "/proc/" + strconv.Itoa(shell.PID) + "/cwd"
	dir := rawReadlink(link)
	if !sameFile(link, string(dir)) {
		return nil
	}
	return dir
}

func (k *killer) supervisor(pid int) bool { return slices.Contains(k.roots, pid) }

// victim tells whether a process is to be ended.
func (k *killer) victim(p process) bool {
	if p.PID <= 1 || p.PID == k.self {
		return false
	}
	if k.table.below(p.PID, k.roots) {
		return true
	}
	// A supervisor that was killed by its own command leaves a session of its
	// number behind; a session cannot be joined from outside.
	if slices.Contains(k.groups, p.Session) && p.Session != k.self {
		return true
	}
	if k.seen[p.PID] == p.Start && p.Start != 0 {
		return true
	}
	if k.req.All {
		return !k.table.below(p.PID, []int{k.self}) && !k.waiting(p)
	}
	return k.req.Orphans && k.orphan(p)
}

// knownLeft lists those of Known of which something is still there.
func (k *killer) knownLeft() []Proc {
	var left []Proc
	for _, known := range k.req.Known {
		if slices.ContainsFunc(k.table.procs, func(p process) bool {
			return p.PID == known.PID && p.Start == known.Start || known.Session != 0 && p.Session == known.Session
		}) {
			left = append(left, known)
		}
	}
	return left
}

// since is when the first of the victims began, in ticks after boot; 0 without
// any.
func (k *killer) since() uint64 {
	var first uint64
	for i, victim := range k.req.Victims {
		if i == 0 || victim.Start < first {
			first = victim.Start
		}
	}
	return first
}

// waiting tells whether a process is a spare or the shell that it started
// ahead, which the caller lists in Known.
func (k *killer) waiting(p process) bool {
	for _, known := range k.req.Known {
		if k.table.below(p.PID, []int{known.PID}) {
			return true
		}
	}
	return false
}

// orphan tells whether a process descends from PID 1 and not from a
// supervisor (whose parent is outside, seen as 0), and is not known to have
// been left by another command. One that began before every victim has is
// nobody's of theirs.
func (k *killer) orphan(p process) bool {
	if p.Start < k.since() {
		return false
	}
	root := p
	for range 4096 {
		if root.parent == 1 {
			break
		}
		i, ok := k.table.index[root.parent]
		if !ok {
			return false
		}
		root = k.table.procs[i]
	}
	if root.parent != 1 {
		return false
	}
	for _, known := range k.req.Known {
		if known.PID == p.PID && known.Start == p.Start || known.Session != 0 && known.Session == p.Session && !slices.Contains(k.groups, p.Session) ||
			known.PID == root.PID && known.Start == root.Start {
			return false
		}
	}
	return true
}
