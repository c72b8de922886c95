package docker

import (
	"errors"
	"io/fs"
	"maps"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
)

func TestAbandoned(t *testing.T) {
	here := host{known: true, boot: "boot-1", pidns: "pid:[1]"}
	mine := map[string]string{labelPID: "42", labelStart: "1000", labelBoot: "boot-1", labelPIDNS: "pid:[1]"}
	with := func(key, value string) map[string]string {
		labels := maps.Clone(mine)
		labels[key] = value
		return labels
	}
	dead := func(int) (string, error) { return "", fs.ErrNotExist }
	living := func(int) (string, error) { return "1000", nil }
	reused := func(int) (string, error) { return "2000", nil }
	unknown := func(int) (string, error) { return "", errors.New("permission denied") }
	old, fresh := time.Now().Add(-time.Hour), time.Now()
	tests := []struct {
		name    string
		labels  map[string]string
		state   container.ContainerState
		created time.Time
		startOf func(int) (string, error)
		want    bool
	}{
		{"the owner lives", mine, container.StateRunning, old, living, false},
		{"the owner lives and has not started it yet", mine, container.StateCreated, old, living, false},
		{"the owner is dead", mine, container.StateRunning, fresh, dead, true},
		{"the engine is removing it", mine, container.StateRemoving, old, dead, false},
		{"the owner's number was given to another", mine, container.StateRunning, old, reused, true},
		{"the owner cannot be looked up", mine, container.StateRunning, old, unknown, false},
		{"another boot, running", with(labelBoot, "boot-0"), container.StateRunning, old, dead, false},
		{"another boot, ended", with(labelBoot, "boot-0"), container.StateExited, old, dead, true},
		{"another name space, running", with(labelPIDNS, "pid:[2]"), container.StateRunning, old, dead, false},
		{"another name space, just created", with(labelPIDNS, "pid:[2]"), container.StateCreated, fresh, dead, false},
		{"another name space, created long ago", with(labelPIDNS, "pid:[2]"), container.StateCreated, old, dead, true},
		{"no number", with(labelPID, "x"), container.StateRunning, old, dead, false},
		{"no start", with(labelStart, ""), container.StateRunning, old, dead, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := abandoned(test.labels, test.state, test.created, here, test.startOf); got != test.want {
				t.Errorf("abandoned = %v, want %v", got, test.want)
			}
		})
	}
	t.Run("a host that cannot count processes", func(t *testing.T) {
		if abandoned(mine, container.StateRunning, old, host{}, dead) {
			t.Error("a running container was called abandoned")
		}
	})
}
