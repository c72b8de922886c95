package docker

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// thisHost names the boot and the name space of processes.
func thisHost() (host, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return host{}, fmt.Errorf("reading the boot id: %w", err)
	}
	pidns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return host{}, fmt.Errorf("reading the name space of processes: %w", err)
	}
	return host{known: true, boot: strings.TrimSpace(string(boot)), pidns: pidns}, nil
}

// processStart returns a process's start time in clock ticks after boot, the
// 22nd field of /proc/PID/stat (proc(5)). It wraps os.ErrNotExist when there
// is no such process.
func processStart(pid int) (string, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		// A /proc with hidepid hides other users' processes, see proc(5), so
		// only kill(2) tells that there is none.
		if alive := syscall.Kill(pid, 0); !errors.Is(alive, syscall.ESRCH) {
			return "", fmt.Errorf("process %d cannot be looked at", pid)
		}
		err = os.ErrNotExist
		return "", fmt.Errorf("reading the start of process %d: %w", pid, err)
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return "", fmt.Errorf("reading the start of process %d: the kernel's answer is too short", pid)
	}
	return string(fields[19]), nil
}

// inodeOf returns a file's inode number.
func inodeOf(path string) (uint64, error) {
	var stat syscall.Stat_t
	if err := syscall.Stat(path, &stat); err != nil {
		return 0, err
	}
	return stat.Ino, nil
}

// hasNumbers tells whether a file has the numbers that stat(2) gave for one.
func hasNumbers(info os.FileInfo, device, inode uint64) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && uint64(stat.Dev) == device && stat.Ino == inode
}
