package docker

import (
	"errors"
	"testing"

	"github.com/belljar/belljar/sandbox"
)

func TestCreateError(t *testing.T) {
	p := &plan{engine: &Engine{endpoint: Endpoint{Host: "unix:///e.sock"}}, spec: sandbox.Spec{Workspace: "/w", Limits: sandbox.Limits{CPUSet: "9"}}}
	for text, want := range map[string]string{
		"Error response from daemon: Requested CPUs are not available - requested 9, available: 0-1": "the engine does not have all processors of the cpuset 9 (it has 0-1): choose among those, or leave --cpuset out",
		"Requested CPUs are not available":                          "the engine does not have all processors of the cpuset 9: choose among those, or leave --cpuset out",
		"invalid mount config: bind source path does not exist: /w": "the engine at unix:///e.sock does not see /w: it must run on this machine and see the same files",
		"something\nelse": "creating the container: something else",
	} {
		if got := p.createError(errors.New(text)).Error(); got != want {
			t.Errorf("of %q\ngot  %s\nwant %s", text, got, want)
		}
	}
}
