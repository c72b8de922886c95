package supervisor

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A process is one line of the process table.
type process struct {
	Proc             // without its Name
	name    [16]byte // what proc(5) calls comm, at most 15 bytes
	parent  int
	state   byte
	exiting bool // on its way out of the kernel, see flagExiting
	threads int
}

// flagExiting is PF_EXITING of the kernel's sched.h: the thread never returns
// to its program. Taking down the memory of a large process takes seconds.
const flagExiting = 0x4

// alive tells a process that can still do something from one that has ended.
// The first thread of a process may end long before the others.
func (p process) alive() bool {
	return p.threads > 1 || p.state != 'Z' && p.state != 'X' && !p.exiting
}

// A table is the processes of the container at one moment, as far as they
// could be read.
type table struct {
	procs []process
	index map[int]int // by pid, into procs
	dents []byte
}

// read fills the table from /proc. All system calls of the scan are raw: the
// runtime then has no reason to start a thread, which would end the program
// where the process limit is full.
func (t *table) read() {
	t.procs = t.procs[:0]
	if t.index == nil {
		t.index = make(map[int]int, 256)
		t.dents = make([]byte, 32<<10)
	}
	clear(t.index)
	fd, errno := rawOpen([]byte("/proc"), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC)
	if errno != 0 {
		return
	}
	defer rawClose(fd)
	for {
		n, _, errno := unix.RawSyscall(unix.SYS_GETDENTS64, uintptr(fd), uintptr(unsafe.Pointer(&t.dents[0])), uintptr(len(t.dents)))
		if errno != 0 || n == 0 {
			return
		}
		// struct linux_dirent64, see getdents(2).
		for rest := t.dents[:n]; len(rest) > 19; {
			size := int(binary.NativeEndian.Uint16(rest[16:]))
			if size < 20 || size > len(rest) {
				break
			}
			name, _, _ := bytes.Cut(rest[19:size], []byte{0})
			if pid := int(number(name)); pid > 0 {
				if p, ok := readProcess(pid); ok {
					t.index[pid] = len(t.procs)
					t.procs = append(t.procs, p)
				}
			}
			rest = rest[size:]
		}
	}
}

// below tells whether a process is one of the roots or descends from one.
func (t *table) below(pid int, roots []int) bool {
	// Bounded, since a table read while it changes may hold a ring.
	for range 4096 {
		for _, root := range roots {
			if pid == root {
				return true
			}
		}
		i, ok := t.index[pid]
		if !ok || pid <= 1 {
			return false
		}
		pid = t.procs[i].parent
	}
	return false
}

// readProcess reads /proc/PID/stat, see proc(5).
func readProcess(pid int) (process, bool) {
	var buf [1024]byte
	var path [32]byte
	name := append(strconv.AppendInt(append(path[:0], "/proc/"...), int64(pid), 10), "/stat"...)
	fd, errno := rawOpen(name, unix.O_RDONLY|unix.O_CLOEXEC)
	if errno != 0 {
		return process{}, false
	}
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)))
	rawClose(fd)
	if errno != 0 {
		return process{}, false
	}
	return parseStat(pid, buf[:n])
}

// The fields of /proc/PID/stat that are used, counted from the state, which
// comes behind the name.
const (
	fieldState   = 0
	fieldParent  = 1
	fieldSession = 3
	fieldFlags   = 6
	fieldThreads = 17
	fieldStart   = 19
)

// parseStat parses one line of the process table. The name in it may hold
// anything, so the fields are counted from its last parenthesis. It makes no
// garbage but the name, since a Kill reads the table again and again.
func parseStat(pid int, stat []byte) (process, bool) {
	open, last := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || last < open || last+2 >= len(stat) {
		return process{}, false
	}
	p := process{Proc: Proc{PID: pid}}
	copy(p.name[:], stat[open+1:last])
	rest := stat[last+2:]
	field := 0
	for ; len(rest) > 0 && field <= fieldStart; field++ {
		text := rest
		if i := bytes.IndexByte(rest, ' '); i >= 0 {
			text, rest = rest[:i], rest[i+1:]
		} else {
			rest = nil
		}
		switch field {
		case fieldState:
			if len(text) != 1 {
				return process{}, false
			}
			p.state = text[0]
		case fieldParent:
			p.parent = int(number(text))
		case fieldSession:
			p.Session = int(number(text))
		case fieldFlags:
			p.exiting = number(text)&flagExiting != 0
		case fieldThreads:
			p.threads = int(number(text))
		case fieldStart:
			p.Start = number(text)
		}
	}
	return p, field > fieldStart
}

// number reads leading digits.
func number(text []byte) (n uint64) {
	for _, c := range text {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + uint64(c-'0')
	}
	return n
}

// lastPID is the last process number that was given in this container, the
// fifth field of /proc/loadavg (proc(5)); it tells that something was forked.
func lastPID() uint64 {
	var buf [128]byte
	fd, errno := rawOpen([]byte("/proc/loadavg"), unix.O_RDONLY|unix.O_CLOEXEC)
	if errno != 0 {
		return 0
	}
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)))
	rawClose(fd)
	if errno != 0 {
		return 0
	}
	text := buf[:n]
	return number(text[bytes.LastIndexByte(text, ' ')+1:])
}

// descendants lists the living processes below a process, itself not counted.
// Those of its session belong to it as well: where a kernel knows no subreaper
// the orphans among them are below it no more.
func descendants(pid int) (list []Proc, count int) {
	var t table
	t.read()
	for _, p := range t.procs {
		if p.PID != pid && p.alive() && (p.Session == pid || t.below(p.PID, []int{pid})) {
			count++
			list = p.appendTo(list)
		}
	}
	return list, count
}

// maxListed bounds the processes named in one message.
const maxListed = 32

// appendTo adds a process to a list that has room.
func (p process) appendTo(list []Proc) []Proc {
	if len(list) >= maxListed {
		return list
	}
	named := p.Proc
	name, _, _ := bytes.Cut(p.name[:], []byte{0})
	named.Name = string(name)
	return append(list, named)
}

func rawOpen(path []byte, flags int) (int, unix.Errno) {
	var name [64]byte
	copy(name[:len(name)-1], path)
	at := unix.AT_FDCWD
	fd, _, errno := unix.RawSyscall6(unix.SYS_OPENAT, uintptr(at), uintptr(unsafe.Pointer(&name[0])), uintptr(flags), 0, 0, 0)
	return int(fd), errno
}

func rawReadlink(path string) []byte {
	var name [64]byte
	copy(name[:len(name)-1], path)
	target := make([]byte, unix.PathMax)
	at := unix.AT_FDCWD
	n, _, errno := unix.RawSyscall6(unix.SYS_READLINKAT, uintptr(at), uintptr(unsafe.Pointer(&name[0])),
		uintptr(unsafe.Pointer(&target[0])), uintptr(len(target)), 0, 0)
	if errno != 0 {
		return nil
	}
	return target[:n]
}

func rawClose(fd int) { _, _, _ = unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0) }

func rawKill(pid int, sig unix.Signal) unix.Errno {
	_, _, errno := unix.RawSyscall(unix.SYS_KILL, uintptr(pid), uintptr(sig), 0)
	return errno
}

// pause sleeps some milliseconds without telling the runtime.
func pause(ms int64) {
	ts := unix.NsecToTimespec(ms * 1e6)
	_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
}
