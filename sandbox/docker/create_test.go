package docker

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
)

// A forgetfulEngine makes containers and does not answer.
type forgetfulEngine struct {
	late    atomic.Int64 // how many times a container is not listed yet
	removed chan string
}

func (f *forgetfulEngine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost:
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			conn.Close()
		}
	case r.Method == http.MethodDelete:
		f.removed <- r.URL.Path
	case f.late.Add(-1) >= 0 || len(f.removed) > 0:
		refuse(w, http.StatusNotFound, "No such container")
	default:
		respond(w, container.InspectResponse{ContainerJSONBase: &container.ContainerJSONBase{
			State: &container.State{Status: container.StateCreated},
		}})
	}
}

// TestCreateUnanswered loses the answer to the making of a container, which is
// made all the same and must not stay.
func TestCreateUnanswered(t *testing.T) {
	for _, test := range []struct {
		name string
		late int64
	}{{"listed at once", 0}, {"listed later", 3}} {
		t.Run(test.name, func(t *testing.T) {
			f := &forgetfulEngine{removed: make(chan string, 1)} // one removal
			f.late.Store(test.late)
			endpoint := Endpoint{Host: listenUnix(t, f)}
			api, err := newClient(endpoint, "1.41")
			if err != nil {
				t.Fatal(err)
			}
			defer api.Close()
			if _, err := testEngine(t, api, endpoint).create(t.Context(), &container.Config{}, nil, "named"); err == nil {
				t.Error("no error without an answer")
			}
			select {
			case path := <-f.removed:
				if path != "/v1.41/containers/named" {
					t.Errorf("removed was %s", path)
				}
			default:
				t.Error("the container was not removed")
			}
		})
	}
}

// TestCreateLate has a container made after it was looked for, which is removed
// before another one is started; what never comes is forgotten then.
func TestCreateLate(t *testing.T) {
	for _, test := range []struct {
		name  string
		comes bool
	}{{"made later", true}, {"never made", false}} {
		t.Run(test.name, func(t *testing.T) {
			f := &forgetfulEngine{removed: make(chan string, 1)} // one removal
			f.late.Store(1 << 30)
			endpoint := Endpoint{Host: listenUnix(t, f)}
			api, err := newClient(endpoint, "1.41")
			if err != nil {
				t.Fatal(err)
			}
			defer api.Close()
			e := testEngine(t, api, endpoint)
			e.removeNamed("named", 50*time.Millisecond)
			if _, remembered := e.left["named"]; !remembered {
				t.Errorf("remembered are %v, want the name", e.left)
			}
			if test.comes {
				f.late.Store(0)
			}
			if err := e.removeLeft(); err != nil || len(e.left) != 0 {
				t.Errorf("removing what is left: %v; remembered are still %v", err, e.left)
			}
			if removed := len(f.removed) == 1; removed != test.comes {
				t.Errorf("removed: %v, want %v", removed, test.comes)
			}
		})
	}
}

// TestCreateDown asks an engine that has gone: what it may have made is looked
// for when it is there again.
func TestCreateDown(t *testing.T) {
	endpoint := Endpoint{Host: deadSocket(t)}
	api, err := newClient(endpoint, "1.41")
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	e := testEngine(t, api, endpoint)
	if _, err := e.create(t.Context(), &container.Config{}, nil, "named"); err == nil {
		t.Error("no error without an engine")
	}
	if _, remembered := e.left["named"]; !remembered || len(e.left) != 1 {
		t.Errorf("remembered are %v, want the name", e.left)
	}
}
