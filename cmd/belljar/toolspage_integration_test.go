//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// testOwnTools runs what docs/tools.md shows as it shows it.
func testOwnTools(t *testing.T, p *program) {
	dir := sharedDir(t)
	writeToolsPage(t, readToolsPage(t), dir)
	got := run(t, p.command(t, dir, "run", "-w", "ws", "--config", "conf/config.json", "--images", "--model", "script:answers.yaml", "How many words are there?"))
	if got.code != exitOK {
		t.Fatalf("exit code %d:\n%s", got.code, got.stderr)
	}
	for _, want := range []string{
		"  own tools     count_words (read), chart (read)\n", "  │ 10 notes.txt\n", `"path" is missing (a string)`,
		"  │ [image, image/png, 92 bytes, 16 × 100 pixels]\n", `  │ {"bars": 2, "largest": 7}`, "No such file or directory\n",
	} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("there is no %q in\n%s", want, got.stderr)
		}
	}
}

// testGoTool shows that a tool in Go takes one file and one line: it adds those of
// docs/tools.md to the tree, builds that, and the tool is offered and works.
func testGoTool(t *testing.T, p *program) {
	dir := sharedDir(t)
	page := readToolsPage(t)
	writeToolsPage(t, page, dir)
	changed := *p
	changed.path = filepath.Join(dir, "belljar")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-trimpath", "-overlay", overlayOf(t, page, t.TempDir()), "-o", changed.path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the tree with the tool: %v\n%s", err, out)
	}
	got := run(t, changed.command(t, dir, "run", "-w", "ws", "--config", "none", "--model", "script:answers.yaml", "How many words are there?"))
	if got.code != exitOK {
		t.Fatalf("exit code %d:\n%s", got.code, got.stderr)
	}
	for _, want := range []string{"  │ 10 notes.txt\n", `"path" is missing (a string)`, `there is no tool "chart"; the tools are: bash, `} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("there is no %q in\n%s", want, got.stderr)
		}
	}
	// One of the user's own cannot take its name.
	got = run(t, changed.command(t, dir, "run", "-w", "ws", "--config", "conf/config.json", "--model", "script:answers.yaml", "x"))
	if want := `there is already a tool of that name`; got.code != exitUsage || !strings.Contains(got.stderr, want) || !strings.Contains(got.stderr, "conf/config.json") {
		t.Errorf("exit code %d, want %d and %q in\n%s", got.code, exitUsage, want, got.stderr)
	}
}
