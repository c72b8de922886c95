package doctor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/sandbox"
)

// readings finds the named limits as the sandbox read them back at its start.
// An error is a limit that does not hold.
func (e *examination) readings(names ...string) (map[string]sandbox.Reading, error) {
	found := make(map[string]sandbox.Reading)
	var wrong []string
	for _, reading := range e.sandbox.Info().Readings {
		for _, name := range names {
			if reading.Limit == name {
				found[name] = reading
				if !reading.InForce() {
					wrong = append(wrong, reading.String())
				}
			}
		}
	}
	switch {
	case len(wrong) > 0:
		return nil, errors.New(strings.Join(wrong, ", "))
	case len(found) == 0:
		return nil, fmt.Errorf("%w: this runtime cannot set it", errSkip)
	}
	return found, nil
}

// whence says who told of a limit that cannot be read inside.
func whence(reading sandbox.Reading) string {
	switch reading.Source {
	case sandbox.FromHost:
		return " (read on the host; it cannot be read inside)"
	case sandbox.FromEngine:
		return " (told by the engine; it cannot be read)"
	default:
		return ""
	}
}

// checkMemory proves the memory limit, and that there is no swap beside it.
func (e *examination) checkMemory(context.Context) (string, error) {
	found, err := e.readings("memory", "swap")
	if err != nil {
		return "", err
	}
	return output.Size(int64(found["memory"].Found)) + ", no swap" + whence(found["memory"]), nil
}

// checkCPUs proves the limit on processor time, and on which processors.
func (e *examination) checkCPUs(context.Context) (string, error) {
	found, err := e.readings("cpus", "cpuset")
	if err != nil {
		return "", err
	}
	detail := strconv.FormatFloat(found["cpus"].Found, 'f', -1, 64)
	if set := e.sandbox.Info().Limits.CPUSet; set != "" {
		detail += ", of the processors " + set
	}
	return detail + whence(found["cpus"]), nil
}

// checkPids proves the limit on processes.
func (e *examination) checkPids(context.Context) (string, error) {
	found, err := e.readings("pids")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("at most %d", int64(found["pids"].Found)) + whence(found["pids"]), nil
}

// checkNoFile proves the limit on open files.
func (e *examination) checkNoFile(context.Context) (string, error) {
	found, err := e.readings("nofile")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d a process", int64(found["nofile"].Found)) + whence(found["nofile"]), nil
}

// tmpfsScript writes the type of each in-memory file system, and whether a
// program can be run from it.
const tmpfsScript = `for d in /tmp "$HOME" /dev/shm; do
	name=home; case "$d" in /tmp) name=tmp;; /dev/shm) name=shm;; esac
	echo "$name.type $(awk -v d="$d" '$2 == d { t = $3 } END { print t }' /proc/mounts)"
	printf '#!/bin/sh\necho yes\n' > "$d/belljar-probe" && chmod +x "$d/belljar-probe"
	echo "$name.exec $("$d/belljar-probe" 2>&1)"
	rm -f "$d/belljar-probe"
done`

// checkTmpfs proves that what is written beside the workspace is bounded, and
// that programs can be run from it.
func (e *examination) checkTmpfs(ctx context.Context) (string, error) {
	if _, err := e.readings("tmp", "home", "shm"); err != nil {
		return "", err
	}
	limits := e.sandbox.Info().Limits
	sizes := map[string]int64{"tmp": limits.Tmp, "home": limits.Home, "shm": limits.Shm}
	facts, err := e.facts(ctx, tmpfsScript)
	if err != nil {
		return "", err
	}
	for _, name := range []string{"tmp", "home", "shm"} {
		if kind := facts[name+".type"]; kind != "tmpfs" && sizes[name] > 0 {
			return "", fmt.Errorf("%s is a %q, not a bounded in-memory file system", name, kind)
		}
		if facts[name+".exec"] != "yes" {
			return "", fmt.Errorf("a program cannot be run from %s: %s", name, facts[name+".exec"])
		}
	}
	if limits.Tmp == 0 || limits.Home == 0 {
		return "", fmt.Errorf("%w: /tmp and the home folder lie in the system's own layer, which the limit on disk bounds; /dev/shm %s",
			errWeak, output.Size(limits.Shm))
	}
	return fmt.Sprintf("/tmp %s, home %s, /dev/shm %s",
		output.Size(limits.Tmp), output.Size(limits.Home), output.Size(limits.Shm)), nil
}
