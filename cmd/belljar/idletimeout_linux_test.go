package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent/trajectory"
)

// TestIdleTimeout: a server that only keeps the connection alive is given up
// after the time that the flag says, which is on record.
func TestIdleTimeout(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Half\"}}]}\n\n: still here\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	state := t.TempDir()
	t.Setenv("BELLJAR_STATE_DIR", state)
	var stdout, stderr bytes.Buffer
	a := bareApp(&stdout, &stderr)
	code := a.run(t.Context(), []string{
		"run", "-w", t.TempDir(), "--model", "m", "--base-url", server.URL + "/v1", "--idle-timeout", "300ms", "--max-requests", "1", "go",
	})
	words := strings.Join(strings.Fields(stderr.String()), " ")
	if code != exitLimit || !strings.Contains(words, "nothing more came for 300ms") || !strings.Contains(words, "--idle-timeout") {
		t.Errorf("exit code %d, stderr:\n%s", code, stderr.String())
	}
	sessions, err := trajectory.List(state)
	if err != nil || len(sessions) != 1 {
		t.Fatalf("%d sessions, error %v", len(sessions), err)
	}
	if manifest, err := sessions[0].Manifest(); err != nil || manifest.IdleTimeoutMS != 300 {
		t.Errorf("manifest %+v, error %v", manifest, err)
	}
}
