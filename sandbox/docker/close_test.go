package docker

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docker/docker/client"

	"github.com/belljar/belljar/sandbox"
)

// noSuchContainer answers like an engine that knows no container.
type noSuchContainer struct{}

func (noSuchContainer) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusNotFound, Header: http.Header{"Content-Type": {"application/json"}}, Request: req,
		Body: io.NopCloser(strings.NewReader(`{"message":"No such container"}`)),
	}, nil
}

// TestCloseDoesNotWaitForBlockedCommand closes a sandbox with a command that
// does not come to its end.
func TestCloseDoesNotWaitForBlockedCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api, err := client.NewClientWithOpts(client.WithHTTPClient(&http.Client{Transport: noSuchContainer{}}), client.WithVersion("1.45"))
		if err != nil {
			t.Fatal(err)
		}
		lifetime, stop := context.WithCancel(t.Context())
		b := &box{
			id: "box", engine: &Engine{api: api, starts: NewStarts()}, lifetime: lifetime, stop: stop,
			closing: make(chan struct{}), active: map[*run]struct{}{}, pool: newPool(false, nil),
		}
		b.running.Add(1)
		defer b.running.Done()
		began := time.Now()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > runningWait+closeWait {
			t.Errorf("Close took %v", took)
		}
		if _, err := b.Exec(t.Context(), sandbox.Command{Script: ":"}); err == nil {
			t.Error("a command ran in a closed sandbox")
		}
	})
}
