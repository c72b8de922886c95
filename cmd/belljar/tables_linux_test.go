package main

import (
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
)

func TestListsFitTheTerminal(t *testing.T) {
	for _, test := range []struct{ verb, want string }{
		{"ps", "/home/u/w"},
		{"ps", "  abcd  "},
		{"image ls", "NOTE"},
	} {
		t.Run(test.verb+" "+test.want, func(t *testing.T) {
			shown := strings.ReplaceAll(onTerminal(t, nil, strings.Fields(test.verb)...), "\r", "")
			if !strings.Contains(shown, test.want) {
				t.Errorf("%q is missing in\n%s", test.want, shown)
			}
			for line := range strings.Lines(shown) {
				if width := runewidth.StringWidth(strings.TrimSuffix(line, "\n")); width > 80 {
					t.Errorf("%d columns: %q", width, line)
				}
			}
		})
	}
}

func TestNoticesBreakAtWords(t *testing.T) {
	shown := strings.ReplaceAll(onTerminal(t, nil, "exec", "-w", t.TempDir(), "--pass-env", "NO_SUCH_VARIABLE_OF_SUCH_A_LONG_NAME", "--", "true"), "\r", "")
	if said := strings.Join(strings.Fields(shown), " "); !strings.Contains(said, "the variable is not set, so it is not handed on") {
		t.Errorf("the notice is not shown whole:\n%s", shown)
	}
	for line := range strings.Lines(shown) {
		if len(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("%d columns: %q", len(line), line)
		}
	}
}
