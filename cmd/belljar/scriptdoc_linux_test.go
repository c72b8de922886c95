package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent/model/script"
	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/sandboxtest"
	"github.com/belljar/belljar/tools"
)

// scriptPage is the description of scripts.
var scriptPage = filepath.Join("..", "..", "docs", "script.md")

// TestScriptPage asserts that the page names every argument of every tool, and
// that its example is a script.
func TestScriptPage(t *testing.T) {
	data, err := os.ReadFile(scriptPage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	_, rest, _ := strings.Cut(page, "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the page has no example")
	}
	if _, err := script.New("the example", []byte(example)); err != nil {
		t.Error(err)
	}
	for _, def := range definitions(t) {
		_, row, found := strings.Cut(page, "\n| `"+def.Name+"` |")
		if !found {
			t.Errorf("the page does not name the tool %s", def.Name)
		}
		row, _, _ = strings.Cut(row, "\n")
		for name := range def.Schema.Properties {
			if !strings.Contains(row, "`"+name+"`") {
				t.Errorf("the page does not name the argument %s of %s", name, def.Name)
			}
		}
	}
}

// definitions are those of the tools that a run offers.
func definitions(t *testing.T) []tools.Definition {
	t.Helper()
	runtime, err := sandboxtest.NewRuntime(sandboxtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	owner := sandbox.Owner{UID: os.Getuid(), GID: os.Getgid()}
	started, err := runtime.Start(t.Context(), sandbox.Spec{Workspace: dir, Owner: owner, Network: sandbox.NetworkNone})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = started.Close() })
	folder, err := workspace.Open(dir, started.Info().MountPoint, owner)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	j := &job{opts: &runOptions{}, jar: &jar{Sandbox: started}, jobs: tools.NewJobs(started, tools.JobsOptions{}), folder: folder}
	registry, err := j.registry()
	if err != nil {
		t.Fatal(err)
	}
	return registry.Definitions()
}
