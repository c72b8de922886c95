package docker

import (
	"maps"
	"os"
	"slices"
	"strconv"
)

// Labels of a container. The owner of a container is the process that made it,
// named so that it can be recognised: by number and start time, on this boot
// and in this name space of processes.
const (
	labelBelljar = "belljar"
	labelSandbox = "sandbox" // the value of labelBelljar
	labelSession = "belljar.session"
	labelBoot    = "belljar.boot"
	labelPIDNS   = "belljar.pidns"
	labelPID     = "belljar.pid"
	labelStart   = "belljar.start"
)

// ownerLabels are the labels that name this process as the owner.
func ownerLabels(session string) (map[string]string, error) {
	labels := map[string]string{labelBelljar: labelSandbox, labelPID: strconv.Itoa(os.Getpid())}
	if session != "" {
		labels[labelSession] = session
	}
	host, err := thisHost()
	if err != nil {
		return nil, err
	}
	if host.known {
		labels[labelBoot], labels[labelPIDNS] = host.boot, host.pidns
		start, err := processStart(os.Getpid())
		if err != nil {
			return nil, err
		}
		labels[labelStart] = start
	}
	return labels, nil
}

// A host is where processes are counted. It is known on Linux only.
type host struct {
	known       bool
	boot, pidns string
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
