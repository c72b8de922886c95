package sandbox

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Reading is one limit of a started sandbox as it was read back. Sizes are
// bytes.
type Reading struct {
	// Limit names it: memory, swap, cpus, cpuset, pids, nofile, fsize, tmp, home,
	// shm, or one of the guards NoNewPrivs and Seccomp, of which the numbers are
	// the kernel's own. Of a cpuset the number of processors is read.
	Limit string `json:"limit"`
	// Asked is what was asked for, and Found what is in force; NoLimit is none.
	// Found is meaningless without a Source.
	Asked float64 `json:"asked"`
	Found float64 `json:"found"`
	// Source says where Found was read.
	Source Source `json:"source"`
}

// The guards: programs can give no rights (1), and a filter of system calls is
// in force (2), as proc_pid_status(5) tells them.
const (
	NoNewPrivs = "no_new_privs"
	Seccomp    = "seccomp"
)

// IsGuard tells whether a reading is of a guard and not of a limit.
func (r Reading) IsGuard() bool { return r.Limit == NoNewPrivs || r.Limit == Seccomp }

// A Source is where a limit was read back.
type Source string

// The sources, the most telling first.
const (
	// FromInside: from within the sandbox, as its commands would.
	FromInside Source = "inside"
	// FromHost: from the control group that the host has for the sandbox.
	FromHost Source = "host"
	// FromEngine: the engine says that it has set it.
	FromEngine Source = "engine"
	// FromNowhere: it cannot be read at all.
	FromNowhere Source = ""
)

// page is the largest page that a kernel rounds a limit to.
const page = 64 << 10

// InForce tells whether the limit that was asked for is the one that holds.
func (r Reading) InForce() bool {
	off := math.Abs(r.Found - r.Asked)
	switch {
	case r.Source == FromNowhere || r.Found == NoLimit:
		return false
	case r.Limit == "cpus":
		return off < 0.01
	case r.isSize():
		return off < page
	default:
		return off == 0
	}
}

func (r Reading) isSize() bool {
	switch r.Limit {
	case "memory", "swap", "tmp", "home", "shm", "fsize":
		return true
	default:
		return false
	}
}

// String says in a few words what was asked for and what was found.
func (r Reading) String() string {
	if r.Source == FromNowhere {
		return fmt.Sprintf("%s (%s asked for, what holds cannot be read)", r.Limit, r.format(r.Asked))
	}
	return fmt.Sprintf("%s (%s asked for, %s in force)", r.Limit, r.format(r.Asked), r.format(r.Found))
}

func (r Reading) format(value float64) string {
	switch {
	case value == NoLimit:
		return "no limit"
	case r.isSize():
		return strconv.FormatFloat(value/float64(MiB), 'f', -1, 64) + " MiB"
	default:
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
}

// Missing lists the readings whose limit is not in force.
func Missing(readings []Reading) []Reading {
	var missing []Reading
	for _, r := range readings {
		if !r.InForce() {
			missing = append(missing, r)
		}
	}
	return missing
}

// CheckReadings names the limits that are not in force, as Info.Loosened does.
// It is an error that there are some, unless that was allowed for.
func CheckReadings(readings []Reading, allowMissing bool) (loosened []string, err error) {
	missing := Missing(readings)
	if len(missing) == 0 {
		return nil, nil
	}
	var texts, cures []string
	for _, reading := range missing {
		texts = append(texts, reading.String())
		loosened = append(loosened, reading.Limit+"=not in force")
		cure := "give the engine the control groups it lacks"
		if reading.IsGuard() {
			cure = "start the engine with its filter of system calls"
		}
		if !slices.Contains(cures, cure) {
			cures = append(cures, cure)
		}
	}
	if !allowMissing {
		err = fmt.Errorf("limits are not in force on this engine: %s; %s, or accept it with --allow-missing-limits",
			strings.Join(texts, ", "), strings.Join(cures, " and "))
	}
	return loosened, err
}

// CountCPUs counts the processors of a cpuset, a list such as "0-2,5" in the
// form of cpuset(7). An empty list or another form is an error.
func CountCPUs(set string) (int, error) {
	seen := make(map[int]bool)
	for piece := range strings.SplitSeq(set, ",") {
		first, last, isRange := strings.Cut(piece, "-")
		if !isRange {
			last = first
		}
		from, errFrom := strconv.ParseUint(first, 10, 16)
		to, errTo := strconv.ParseUint(last, 10, 16)
		if errFrom != nil || errTo != nil || to < from {
			return 0, fmt.Errorf("%q is no list of processors: write it as 0,2 or 0-3", set)
		}
		for n := from; n <= to; n++ {
			seen[int(n)] = true
		}
	}
	return len(seen), nil
}
