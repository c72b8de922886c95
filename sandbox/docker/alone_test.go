package docker

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/client"

	"github.com/belljar/belljar/internal/supervisor"
)

func TestRuns(t *testing.T) {
	for _, test := range []struct {
		name string
		list [][]string
		want bool
	}{
		{"asleep", [][]string{{"1", "Ss"}, {"42", "Sl"}}, true},
		{"waiting for a disk", [][]string{{"42", "D"}}, true},
		{"stopped", [][]string{{"1", "Ss"}, {"42", "Tl"}}, false},
		{"ended", [][]string{{"42", "Z"}}, false},
		{"not there", [][]string{{"1", "Ss"}, {"421", "S"}}, false},
		{"other columns", [][]string{{"42", "S", "0:00"}}, false},
		{"nothing", nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := runs(test.list, 42); got != test.want {
				t.Errorf("runs = %v, want %v", got, test.want)
			}
		})
	}
}

// TestOwnSupervisorIsLeftToFinish has a command's own supervisor take longer
// than one that is stopped is waited for.
func TestOwnSupervisorIsLeftToFinish(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, state string
		fresh       bool // another exec is started
	}{
		{"awake", "Sl", false},
		{"stopped", "Tl", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			fresh := make(chan struct{}, 10)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				switch {
				case strings.HasSuffix(req.URL.Path, "/exec/own/json"):
					_, _ = io.WriteString(w, `{"ID":"own","Running":true,"Pid":42}`)
				case strings.HasSuffix(req.URL.Path, "/containers/box/top"):
					_, _ = io.WriteString(w, `{"Titles":["PID","STAT"],"Processes":[["42","`+test.state+`"]]}`)
				default:
					fresh <- struct{}{}
					http.Error(w, `{"message":"no exec starts"}`, http.StatusInternalServerError)
				}
			}))
			defer server.Close()
			api, err := client.NewClientWithOpts(client.WithHost("tcp://"+server.Listener.Addr().String()), client.WithVersion("1.45"))
			if err != nil {
				t.Fatal(err)
			}
			defer api.Close()
			b := &box{id: "box", engine: &Engine{api: api, starts: NewStarts()}, lifetime: t.Context(),
				active: map[*run]struct{}{}, pool: newPool(true, nil)}
			here, there := net.Pipe()
			defer here.Close()
			go func() { _, _ = io.Copy(io.Discard, there) }()
			r := &run{box: b, alone: true, sink: newSink(testNonce, testKey, nil, nil, 0),
				spare: &spare{conn: types.NewHijackedResponse(here, ""), execID: "own", done: make(chan struct{})}}
			body, err := json.Marshal(supervisor.Trailer{Ended: true, Clean: true, KillCount: 3})
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(ackWait+time.Second, func() {
				r.sink.write(streamStdout, []byte(trailerText(string(body))))
				close(r.spare.done)
			})
			report, err := r.endProcesses()
			if err != nil || report.Count != 3 {
				t.Errorf("report %+v, error %v, want what its own supervisor says", report, err)
			}
			if got := len(fresh) > 0; got != test.fresh {
				t.Errorf("another exec was started: %v, want %v", got, test.fresh)
			}
		})
	}
}
