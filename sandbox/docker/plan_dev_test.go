package docker

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/sandbox"
)

func TestBesideDev(t *testing.T) {
	const mib = sandbox.MiB
	for _, test := range []struct {
		name        string
		asked, want sandbox.Limits
	}{
		{"the usual sizes leave room", sandbox.Limits{}, sandbox.Limits{Memory: 2048 * mib, Tmp: 512 * mib, Home: 384 * mib, Shm: 64 * mib}},
		{"less memory", sandbox.Limits{Memory: 1024 * mib}, sandbox.Limits{Memory: 1024 * mib, Tmp: 250540032, Home: 187899904, Shm: 31313920}},
		{"one was asked for", sandbox.Limits{Memory: 1024 * mib, Tmp: 300 * mib}, sandbox.Limits{Memory: 1024 * mib, Tmp: 300 * mib, Home: 133017600, Shm: 22167552}},
		{"no room", sandbox.Limits{Memory: 96 * mib}, sandbox.Limits{Memory: 96 * mib, Tmp: 4 * mib, Home: 4 * mib, Shm: 4 * mib}},
	} {
		t.Run(test.name, func(t *testing.T) {
			filled := test.asked.Fill(8*sandbox.GiB, 2)
			got := besideDev(test.asked, filled)
			got = sandbox.Limits{Memory: got.Memory, Tmp: got.Tmp, Home: got.Home, Shm: got.Shm}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("limits (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWritableDev keeps room for /dev where root can fill it. Elsewhere it is
// read-only for root.
func TestWritableDev(t *testing.T) {
	podman := engineVersion{Components: []struct{ Name string }{{Name: "Podman Engine"}}}
	for _, test := range []struct {
		name   string
		engine *Engine
		uid    int
		user   sandbox.User
		want   bool
	}{
		{"Docker, root", &Engine{}, 0, sandbox.UserRoot, false},
		{"Podman, root", &Engine{version: podman}, 1000, sandbox.UserRoot, true},
		{"Podman, the owner is root", &Engine{version: podman}, 0, sandbox.UserOwner, true},
		{"Podman, the owner", &Engine{version: podman}, 1000, sandbox.UserOwner, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := sandbox.Spec{User: test.user, Owner: sandbox.Owner{UID: test.uid}}
			if got := test.engine.writableDev(spec); got != test.want {
				t.Errorf("writableDev = %v, want %v", got, test.want)
			}
		})
	}
	closed := &plan{engine: &Engine{}, uid: 0}
	if !slices.Contains(closed.readOnlyPaths(), "/dev") {
		t.Errorf("read-only for root are %q, and /dev is not", closed.readOnlyPaths())
	}
}
