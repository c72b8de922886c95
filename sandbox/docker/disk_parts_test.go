package docker

import (
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/belljar/belljar/sandbox"
)

// TestDiskPartsVolumes has an engine that fails to tell of a container's
// volumes at first.
func TestDiskPartsVolumes(t *testing.T) {
	for _, test := range []struct {
		name  string
		fails int64
	}{{"told at once", 0}, {"told later", 3}} {
		t.Run(test.name, func(t *testing.T) {
			source := t.TempDir()
			var fails atomic.Int64
			fails.Store(test.fails)
			endpoint := Endpoint{Host: listenUnix(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if fails.Add(-1) >= 0 {
					refuse(w, http.StatusInternalServerError, "busy")
					return
				}
				respond(w, container.InspectResponse{
					ContainerJSONBase: &container.ContainerJSONBase{},
					Mounts:            []container.MountPoint{{Type: mount.TypeVolume, Source: source, Destination: "/data", RW: true}},
				})
			}))}
			api, err := newClient(endpoint, "1.41")
			if err != nil {
				t.Fatal(err)
			}
			defer api.Close()
			b := &box{engine: testEngine(t, api, endpoint), id: "named", lifetime: t.Context()}
			plan := &plan{spec: sandbox.Spec{Workspace: t.TempDir(), RootFS: sandbox.RootReadOnly}, volumes: []string{"/data/"}}
			// Times of files are those of a clock that is a little behind.
			w := newDiskWatch(sandbox.MiB, time.Now().Add(-time.Second), func(diskAmount) {})
			w.begin(t.Context(), b.diskParts(plan))
			if err := os.WriteFile(filepath.Join(source, "file"), make([]byte, 2*sandbox.MiB), 0o600); err != nil {
				t.Fatal(err)
			}
			trip := w.current()
			for range test.fails + 1 {
				w.look(t.Context())
			}
			if !closed(trip.done) {
				t.Error("what was written to the volume was not seen")
			}
		})
	}
}
