package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestHelpFits asserts that the help of every verb fits a terminal.
func TestHelpFits(t *testing.T) {
	var each func(cmd *cobra.Command)
	count := 0
	each = func(cmd *cobra.Command) {
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			var out bytes.Buffer
			cmd.Root().SetOut(&out)
			cmd.InitDefaultHelpFlag()
			if err := cmd.Help(); err != nil {
				t.Fatal(err)
			}
			count++
			if !strings.Contains(out.String(), "Exit codes:") || !strings.Contains(out.String(), "Usage:") {
				t.Errorf("no exit codes or no usage:\n%s", out.String())
			}
			for line := range strings.Lines(out.String()) {
				if width := len([]rune(strings.TrimRight(line, "\n"))); width > helpWidth {
					t.Errorf("%d columns: %s", width, line)
				}
			}
		})
		for _, child := range cmd.Commands() {
			each(child)
		}
	}
	each(newRoot(&app{}))
	if count < 10 {
		t.Errorf("only %d verbs", count)
	}
}
