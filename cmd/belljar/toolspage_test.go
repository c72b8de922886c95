package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent/model/script"
)

// A toolsPage is what docs/tools.md shows: a config with a program, answers of a
// model, and a tool in Go with the line that registers it.
type toolsPage struct {
	config, program, answers, code, line string
}

func readToolsPage(t *testing.T) toolsPage {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "tools.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := func(language string) string {
		_, rest, _ := strings.Cut(string(data), "```"+language+"\n")
		text, _, found := strings.Cut(rest, "```")
		if !found {
			t.Fatalf("the page has no %s", language)
		}
		return text
	}
	line := regexp.MustCompile("`(tools\\.New[A-Za-z]+\\([a-z.]+\\),)`").FindSubmatch(data)
	if line == nil {
		t.Fatal("the page has no line that registers a tool")
	}
	return toolsPage{
		config: block("json"), program: block("python"), answers: block("yaml"), code: block("go"), line: string(line[1]),
	}
}

// TestToolsPage asserts that what the page shows can be read, and that its tool
// in Go is as short as it says.
func TestToolsPage(t *testing.T) {
	page := readToolsPage(t)
	var c config
	if err := c.parse([]byte(page.config)); err != nil || len(c.tools) != 2 {
		t.Errorf("the config has %d tools: %v", len(c.tools), err)
	}
	if _, err := script.New("the answers", []byte(page.answers)); err != nil {
		t.Error(err)
	}
	_, code, _ := strings.Cut(page.code, "\n)\n")
	lines := 0
	for line := range strings.Lines(code) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	if lines != 17 {
		t.Errorf("the tool in Go has %d lines, and the page says 17", lines)
	}
}

// writeToolsPage puts the parts of the page into a folder, and a workspace.
func writeToolsPage(t *testing.T, page toolsPage, dir string) {
	t.Helper()
	for name, text := range map[string]string{
		"conf/config.json": page.config, "conf/tools/chart.py": page.program, "answers.yaml": page.answers,
		"ws/notes.txt": "A bell jar is a glass vessel.\nNothing gets out.\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// overlayOf is the tree with the page's tool in a file of its own and one more
// line in the list of tools, as the go command takes such a tree.
func overlayOf(t *testing.T, page toolsPage, dir string) string {
	t.Helper()
	const list = "tools.NewGlob(folder), tools.NewGrep(folder),\n"
	joined, err := os.ReadFile("toolset.go")
	if err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(string(joined), list)
	if !found {
		t.Fatalf("toolset.go has no %q", list)
	}
	replaced := make(map[string]string)
	for real, text := range map[string]string{
		filepath.Join("..", "..", "tools", "count_words.go"): page.code,
		"toolset.go": before + list + page.line + "\n" + after,
	} {
		real, err := filepath.Abs(real)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.Base(real))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		replaced[real] = path
	}
	data, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return overlay
}
