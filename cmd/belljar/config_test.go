package main

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/docker"
)

// placed is an engine of which only its places are known.
type placed struct {
	engine
	host, data string
}

func (p placed) Endpoint() docker.Endpoint { return docker.Endpoint{Host: p.host} }
func (p placed) DataRoot() string          { return p.data }

// TestCheckEnginePrograms: the folder of the user's tools is held against the
// engine that was chosen, as each other folder is.
func TestCheckEnginePrograms(t *testing.T) {
	dir := t.TempDir()
	work, programs := filepath.Join(dir, "work"), filepath.Join(dir, "tools")
	for _, name := range []string{work, filepath.Join(programs, "data")} {
		if err := os.MkdirAll(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	socket := filepath.Join(programs, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	spec := sandbox.Spec{Workspace: work, Mounts: []sandbox.Mount{{Source: programs, Target: sandbox.ProgramsPoint, ReadOnly: true}}}
	for _, tt := range []struct {
		name   string
		engine placed
		want   string
	}{
		{"elsewhere", placed{host: "unix:///run/none", data: "/var/lib/none"}, ""},
		{"socket in it", placed{host: "unix://" + socket, data: "/var/lib/none"}, "mounting " + programs + " is refused"},
		{"data in it", placed{host: "unix:///run/none", data: filepath.Join(programs, "data")}, programs},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &sandboxFlags{workspace: work}
			err := f.checkEngine(tt.engine, spec)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// TestConfigFile: the home is that of the app, and who has none has no config.
func TestConfigFile(t *testing.T) {
	name := "HOME"
	if runtime.GOOS == "windows" {
		name = "USERPROFILE"
	}
	for _, home := range []string{t.TempDir(), ""} {
		a := &app{lookupEnv: only(name, home)}
		want := ""
		if home != "" {
			want = filepath.Join(home, ".config", "belljar", "config.json")
		}
		if got, chosen := a.configFile(""); got != want || chosen {
			t.Errorf("with the home %q: %q, %v, want %q", home, got, chosen, want)
		}
	}
}

// only is an environment of one variable.
func only(name, value string) func(string) (string, bool) {
	return func(asked string) (string, bool) {
		if asked != name {
			return "", false
		}
		return value, true
	}
}
