package docker

import (
	"context"
	"testing"

	"github.com/docker/docker/api/types/system"

	"github.com/belljar/belljar/sandbox"
)

// TestWatchEnding has runtimes with which the engine's word on memory means the
// whole sandbox, and others with which it means one process.
func TestWatchEnding(t *testing.T) {
	limits := system.Info{DefaultRuntime: "runc", MemoryLimit: true, PidsLimit: true, CPUCfsQuota: true}
	for _, test := range []struct {
		name, runtime string
		info          system.Info
		want          bool
	}{
		{"runc", "", limits, false},
		{"runc without counters", "", system.Info{DefaultRuntime: "runc"}, false},
		{"gVisor", "runsc", limits, true},
		{"gVisor by default", "", system.Info{DefaultRuntime: "/usr/bin/runsc"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			endpoint := Endpoint{Host: deadSocket(t)} // it tells of nothing
			api, err := newClient(endpoint, "1.41")
			if err != nil {
				t.Fatal(err)
			}
			defer api.Close()
			e := testEngine(t, api, endpoint)
			e.info = test.info
			lifetime, stop := context.WithCancel(t.Context())
			defer stop()
			p := &plan{engine: e, spec: sandbox.Spec{Runtime: test.runtime}}
			b := &box{engine: e, lifetime: lifetime}
			b.info.Runtime, b.info.Capabilities = p.runtime(), e.CapabilitiesOf(test.runtime)
			b.watchEnding(t.Context())
			b.readers.Wait()
			if got := b.ending != nil; got != test.want {
				t.Errorf("listens: %v, want %v", got, test.want)
			}
		})
	}
}
