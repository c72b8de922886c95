package docker

import (
	"context"
	"net/http"
	"testing"

	"github.com/docker/docker/api/types/events"
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

// TestEndingTold has an engine tell of a container's end in all the ways that
// matter.
func TestEndingTold(t *testing.T) {
	die := func(code string) events.Message {
		return events.Message{Type: events.ContainerEventType, Action: events.ActionDie, Actor: events.Actor{Attributes: map[string]string{"exitCode": code}}}
	}
	oom := events.Message{Type: events.ContainerEventType, Action: events.ActionOOM}
	for _, test := range []struct {
		name string
		told []events.Message
		want sandbox.Status
	}{
		{"memory", []events.Message{oom, die("137")}, sandbox.OutOfMemory},
		{"memory, and no more threads", []events.Message{oom, die("2")}, sandbox.OutOfMemory},
		{"no more threads", []events.Message{die("2")}, sandbox.PidsLimit},
		{"killed", []events.Message{die("137")}, ""},
		{"ended", []events.Message{die("0")}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.HandleFunc("GET /v1.41/events", func(w http.ResponseWriter, _ *http.Request) {
				for _, message := range test.told {
					respond(w, message)
				}
			})
			endpoint := Endpoint{Host: listenUnix(t, mux)}
			api, err := newClient(endpoint, "1.41")
			if err != nil {
				t.Fatal(err)
			}
			defer api.Close()
			e := testEngine(t, api, endpoint)
			e.info = system.Info{DefaultRuntime: "runsc"}
			lifetime, stop := context.WithCancel(t.Context())
			defer stop()
			b := &box{engine: e, lifetime: lifetime, closing: make(chan struct{}), lease: &lease{lost: make(chan struct{})}}
			b.info.Runtime = "runsc"
			close(b.lease.lost)
			b.watchEnding(t.Context())
			b.readers.Wait()
			var got sandbox.Status
			if limit := b.ranOut(); limit != nil {
				got = limit.status
			}
			if got != test.want {
				t.Errorf("it ended by %q, want %q", got, test.want)
			}
		})
	}
}
