package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRefusalIsTold: what a server refuses of a request is told in one line,
// once in a run, and is on record.
func TestRefusalIsTold(t *testing.T) {
	turns := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("stream_options")) {
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprint(w, `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`)
			return
		}
		delta, reason := `"content":"Done."`, "stop"
		if turns++; turns < 3 {
			delta = fmt.Sprintf(`"tool_calls":[{"index":0,"id":"c%d","function":{"name":"glob","arguments":"{\"pattern\":\"%d\"}"}}]`, turns, turns)
			reason = "tool_calls"
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{%s},\"finish_reason\":%q}]}\n\n", delta, reason)
	}))
	defer server.Close()
	state := t.TempDir()
	t.Setenv("BELLJAR_STATE_DIR", state)
	var stdout, stderr bytes.Buffer
	a := bareApp(&stdout, &stderr)
	code := a.run(t.Context(), []string{"run", "-w", t.TempDir(), "--model", "m", "--base-url", server.URL + "/v1", "go"})
	const change = "; from now on token counts are not asked for"
	if code != exitOK || stdout.String() != "Done.\n" || turns != 3 || strings.Count(stderr.String(), change+"\n") != 1 {
		t.Errorf("exit code %d after %d turns, stdout %q, stderr:\n%s", code, turns, stdout.String(), stderr.String())
	}
	records, err := filepath.Glob(filepath.Join(state, "*", "events.jsonl"))
	if err != nil || len(records) != 1 {
		t.Fatalf("records %q, error %v", records, err)
	}
	record, err := os.ReadFile(records[0])
	if n := strings.Count(string(record), `"kind":"adapted"`); err != nil || n != 1 || !strings.Contains(string(record), change) {
		t.Errorf("%d notices on record, error %v, want one:\n%s", n, err, record)
	}
}
