package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// TestFlagsAreRecorded names, for each flag that sets a sandbox, where exec's
// answer tells of it. A flag that is added must be told of as well, or change
// nothing about what the sandbox lets through.
func TestFlagsAreRecorded(t *testing.T) {
	fields := map[string]string{
		"image": "image", "runtime": "runtime", "memory": "limits", "cpus": "limits", "cpuset": "limits", "pids": "limits", "disk": "limits",
		"tmp-size": "limits", "home-size": "limits", "shm-size": "limits", "allow-missing-limits": "readings",
		"network": "network", "allow-host": "allow_hosts", "allow-private-host": "loosened", "inject-header": "inject_headers",
		"env": "variables", "pass-env": "loosened", "mount": "mounts", "protect": "protected", "profile": "profile", "user": "user",
		"rootfs": "loosened", "force-workspace": "loosened", "relabel": "loosened",
		"host": "engine", "context": "engine",
		"workspace": "", // the folder is the caller's own choice, and told nowhere but to the caller
	}
	known := map[string]bool{}
	data, err := json.Marshal(execRest{})
	if err != nil {
		t.Fatal(err)
	}
	object := map[string]any{}
	if err := json.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}
	for name := range object {
		known[name] = true
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(sandboxFlags).add(flags)
	flags.VisitAll(func(flag *pflag.Flag) {
		field, told := fields[flag.Name]
		if !told || field != "" && !known[field] {
			t.Errorf("--%s is told of nowhere", flag.Name)
		}
	})
}

// TestLoosenedByFlags gives what lets something in without being a setting of
// the sandbox, and looks at both places that tell of it.
func TestLoosenedByFlags(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("BELLJAR_STATE_DIR", filepath.Join(dir, "state"))
	script := filepath.Join(dir, "script.yaml")
	if err := os.WriteFile(script, []byte("turns:\n- text: done\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--workspace", t.TempDir(), "--force-workspace", "--env", "MODE=secretless", "--pass-env", "HANDED", "--pass-env", "UNSET"}
	wantLoosened, wantVariables := []any{"force-workspace=true", "pass-env=HANDED"}, []any{"MODE", "HANDED"}
	for name, args := range map[string][]string{
		"exec": append([]string{"exec", "--json"}, append(flags, "--", "true")...),
		"run":  append([]string{"run", "--model", "script:" + script}, append(flags, "a task")...),
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			a := bareApp(&stdout, &stderr)
			a.lookupEnv = func(name string) (string, bool) {
				if name == "HANDED" {
					return "the value", true
				}
				return "", false
			}
			if code := a.run(t.Context(), args); code != 0 {
				t.Fatalf("exit code %d, %s", code, stderr.String())
			}
			data := stdout.Bytes()
			if name == "run" {
				data = onlyManifest(t, filepath.Join(dir, "state"))
			}
			if strings.Contains(string(data), "secretless") || strings.Contains(string(data), "the value") {
				t.Errorf("a value is told: %s", data)
			}
			var got struct{ Loosened, Variables []any }
			if err := json.Unmarshal(data, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(wantLoosened, got.Loosened[max(0, len(got.Loosened)-2):]); diff != "" {
				t.Errorf("the last of loosened (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(wantVariables, got.Variables); diff != "" {
				t.Errorf("variables (-want +got):\n%s", diff)
			}
		})
	}
}

// onlyManifest reads the manifest of the one session below a state folder.
func onlyManifest(t *testing.T, state string) []byte {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(state, "*", "manifest.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("manifests %q below %s, error %v, want one", found, state, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return data
}
