package escape

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mayHave are the capabilities that a profile may give to commands: CHOWN,
// DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID, see capabilities(7).
const mayHave = 1<<0 | 1<<1 | 1<<3 | 1<<5 | 1<<6 | 1<<7

func privilegeAttempts() []attempt {
	return []attempt{
		{area: Privileges, name: "capabilities", try: func() error { return capabilities(mayHave) }},
		{area: Privileges, name: "any capability", root: true, try: func() error { return capabilities(0) }},
		{area: Privileges, name: "gain capabilities", try: raise},
		{area: Privileges, name: "gain rights by a program", try: newPrivileges},
		{area: Privileges, name: "run a planted program of root", try: func() error { return planted(".", os.TempDir()) }},
		{area: Privileges, name: "use unfiltered system calls", hostKernel: true, try: unfiltered},
		{area: Privileges, name: "become root", root: true, try: becomeRoot},
		{area: Privileges, name: "give a file away", root: true, try: giveAway},
		{area: Privileges, name: "raise the limit on open files", try: raiseLimit},
	}
}

// status reads one field of /proc/self/status, see proc(5).
func status(name string) string {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		return ""
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// capabilities tells whether all sets hold at most the given ones.
func capabilities(allowed uint64) error {
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		text := status(set)
		if text == "" && set == "CapAmb" {
			continue // a kernel without this set
		}
		value, err := strconv.ParseUint(text, 16, 64)
		if err != nil {
			return fmt.Errorf("%s cannot be read", set)
		}
		if value&^allowed != 0 {
			return fmt.Errorf("%s is %x", set, value)
		}
	}
	return fmt.Errorf("%w: none beyond what the profile gives", errHeld)
}

// raise asks for every capability at once.
func raise() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	all := [2]unix.CapUserData{
		{Effective: ^uint32(0), Permitted: ^uint32(0), Inheritable: ^uint32(0)},
		{Effective: 1<<9 - 1, Permitted: 1<<9 - 1, Inheritable: 1<<9 - 1},
	}
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread is thrown away
		result <- call(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&all)))
	}()
	return <-result
}

// newPrivileges tells whether a setuid program could give rights. The flag can
// only be set, never cleared, see prctl(2).
func newPrivileges() error {
	set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	if err != nil || set != 1 {
		return fmt.Errorf("no_new_privs is %d", set)
	}
	return fmt.Errorf("%w: no_new_privs is set", errHeld)
}

// unfiltered tells whether a seccomp filter is in force. A runtime with a
// kernel of its own need not have one.
func unfiltered() error {
	if mode := status("Seccomp"); mode != "2" {
		return fmt.Errorf("seccomp mode is %q", mode)
	}
	return fmt.Errorf("%w: a seccomp filter is in force", errHeld)
}

func becomeRoot() error {
	if os.Geteuid() == 0 {
		// Root already, though without rights: another user then.
		return setuid(12345)
	}
	return setuid(0)
}

// setuid tries on one thread only, which is thrown away.
func setuid(uid uintptr) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		_, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uid, uid, uid)
		if errno != 0 {
			result <- errno
			return
		}
		result <- nil
	}()
	return <-result
}

func giveAway() error {
	path := filepath.Join("/tmp", fmt.Sprintf("belljar-file-%d", os.Getpid()))
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	defer os.Remove(path)
	return unix.Chown(path, os.Getuid()+1, -1)
}

func raiseLimit() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	limit.Max++
	return unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
}
