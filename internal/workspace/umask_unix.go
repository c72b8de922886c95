//go:build unix

package workspace

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// umask reads the process's umask without setting it: umask(2) can only be
// read by changing it, which files made meanwhile by other goroutines would
// feel.
func umask() (int, error) {
	if mask, ok := procUmask(); ok {
		return mask, nil
	}
	return probeUmask()
}

// procUmask reads it where the kernel tells it.
func procUmask() (int, bool) {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0, false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "Umask:"); ok {
			mask, err := strconv.ParseUint(strings.TrimSpace(value), 8, 12)
			return int(mask), err == nil
		}
	}
	return 0, false
}

// probeUmask sees what a new folder's mode lacks.
func probeUmask() (int, error) {
	dir, err := os.MkdirTemp("", "belljar-umask-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	probe := filepath.Join(dir, "probe")
	if err := os.Mkdir(probe, 0o777); err != nil {
		return 0, err
	}
	info, err := os.Lstat(probe)
	if err != nil {
		return 0, fmt.Errorf("looking at the probe: %w", err)
	}
	return int(0o777 &^ info.Mode().Perm()), nil
}
