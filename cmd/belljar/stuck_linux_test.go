package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestStuckInCommands: a command that is run again and again is the same one
// with the same result, though belljar has another number to tell each time;
// and one that gives something new is not.
func TestStuckInCommands(t *testing.T) {
	const most = 11
	for name, test := range map[string]struct {
		arguments string
		requests  int
		exit      int
	}{
		"the same failure":               {`{"command":"false"}`, 6, exitStuck},
		"output that is kept in a file":  {`{"command":"seq 1 20000"}`, 6, exitStuck},
		"a timeout":                      {`{"command":"sleep 300","timeout_seconds":0.2}`, 6, exitStuck},
		"a timeout with processes":       {`{"command":"sh -c 'sleep 300; :' & sleep 300","timeout_seconds":0.2}`, 6, exitStuck},
		"a timeout with ever new output": {`{"command":"cat /proc/sys/kernel/random/uuid; sleep 300","timeout_seconds":0.2}`, 10, exitStuck},
		"a process that is left":         {`{"command":"sleep 300 >/dev/null 2>&1 & echo started"}`, 6, exitStuck},
		"a job":                          {`{"command":"sleep 300","background":true}`, 6, exitStuck},
		"polling":                        {`{"command":"cat /proc/sys/kernel/random/uuid"}`, most, exitLimit},
	} {
		t.Run(name, func(t *testing.T) {
			requests := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				requests++
				fmt.Fprintf(w, `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c%d","function":{"name":"bash","arguments":%q}}]},`+
					`"finish_reason":"tool_calls"}]}`+"\n\ndata: [DONE]\n\n", requests, test.arguments)
			}))
			defer server.Close()
			t.Setenv("BELLJAR_STATE_DIR", t.TempDir())
			var stdout, stderr bytes.Buffer
			a := bareApp(&stdout, &stderr)
			exit := a.run(t.Context(), []string{
				"run", "-w", t.TempDir(), "--model", "m", "--base-url", server.URL + "/v1", "--max-turns", fmt.Sprint(most), "go",
			})
			if exit != test.exit || requests != test.requests {
				t.Errorf("exit code %d after %d requests, want %d after %d\n%s", exit, requests, test.exit, test.requests, &stderr)
			}
		})
	}
}
