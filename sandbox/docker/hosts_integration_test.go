package docker_test

import (
	"os"
	"strings"
	"testing"

	"github.com/belljar/belljar/sandbox"
)

// TestLoopback has programs of a sandbox without network talk to each other by
// the name localhost, and to nobody else, in both profiles.
func TestLoopback(t *testing.T) {
	engine := connect(t)
	seen := observe(t, engine)
	for _, test := range []struct {
		profile sandbox.Profile
		// disabled tells that the engine does nothing about the network, which
		// is for systems whose /etc/hosts is not to be changed.
		disabled bool
	}{{sandbox.ProfileStrict, true}, {sandbox.ProfileDev, false}} {
		t.Run(string(test.profile), func(t *testing.T) {
			spec := newSpec(t, os.Getuid(), os.Getgid())
			spec.Profile = test.profile
			sb := start(t, engine, spec)
			found := seen.inspect(t, sb.Info().ID)
			if found.HostConfig.NetworkMode != "none" || found.Config.NetworkDisabled != test.disabled {
				t.Errorf("network mode %s, disabled %v, want none and %v", found.HostConfig.NetworkMode, found.Config.NetworkDisabled, test.disabled)
			}
			const serve = `python3 -c '
import http.server, os
server = http.server.HTTPServer(("localhost", 0), http.server.SimpleHTTPRequestHandler)
if os.fork() == 0: server.serve_forever()
print(server.server_port)'`
			port := strings.TrimSpace(script(t, sb, "echo hello >index.html; "+serve))
			for _, name := range []string{"localhost", "127.0.0.1"} {
				if got := script(t, sb, "curl -sS --max-time 20 http://"+name+":"+port+"/index.html"); got != "hello\n" {
					t.Errorf("by %s: %q, want what the server says", name, got)
				}
			}
			if got := script(t, sb, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '"); got != "lo\n" {
				t.Errorf("devices = %q, want lo alone", got)
			}
			got := execute(t, sb, sandbox.Command{Script: "getent hosts example.org"})
			if got.err != nil || *got.result.ExitCode != 2 || got.output != "" {
				t.Errorf("looking up a name outside: %s, %q, error %v, want getent's code 2", describe(got.result), got.output, got.err)
			}
		})
	}
}
