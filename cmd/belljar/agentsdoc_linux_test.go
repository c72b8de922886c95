package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model/script"
	"github.com/belljar/belljar/tools"
)

// TestAgentsPage asserts that docs/agents.md has the figures that hold, and that
// its example is a script.
func TestAgentsPage(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "agents.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, want := range []string{
		fmt.Sprintf("at most %d, and", tools.MaxTodoItems), "8,000 bytes",
		fmt.Sprintf("`--max-turns` (%d)", agent.DefaultMaxTurns), fmt.Sprintf("A sub-agent has %d,", agent.DefaultSubTurns),
	} {
		if !strings.Contains(strings.ReplaceAll(page, "\n", " "), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	_, rest, _ := strings.Cut(page, "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the page has no example")
	}
	if _, err := script.New("the example", []byte(example)); err != nil {
		t.Error(err)
	}
}
