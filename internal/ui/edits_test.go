package ui_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/ui"
)

// diffOf is a diff of one file with a hunk for each pair of what went and came.
func diffOf(name string, hunks ...string) string {
	text := "--- " + name + "\n+++ " + name + "\n"
	for i, hunk := range hunks {
		text += fmt.Sprintf("@@ -%d,7 +%d,7 @@\n one\n two\n three\n%s four\n five\n six\n", i*100, i*100, hunk)
	}
	return text
}

func TestLiveEditsShowWhatChanged(t *testing.T) {
	const change = "-old\n+new\n"
	for _, test := range []struct{ name, content, want string }{
		{
			"two places of one file", "edited a.txt\n" + diffOf("a.txt", change, "-was\n+is\n"),
			"edited a.txt · +2 -2|@@ -0,7 +0,7 @@|-old|+new|@@ -100,7 +100,7 @@|-was|+is",
		},
		{
			"a small edit keeps what is around it", "edited a.txt\n[notice]\n" + diffOf("a.txt", change),
			"edited a.txt · +1 -1|[notice]|@@ -0,7 +0,7 @@| one| two| three|-old|+new| four| five| six",
		},
		{
			"several files", "edited a\n" + diffOf("a", change) + "edited b\n" + diffOf("b", "+more\n") + "deleted c\nmoved d to e\n" + diffOf("e", change),
			"edited a · +1 -1|@@ -0,7 +0,7 @@|-old|+new|edited b · +1 -0|@@ -0,7 +0,7 @@|+more|deleted c|moved d to e · +1 -1|@@ -0,7 +0,7 @@|-old|+new",
		},
		{
			"a diff that nothing stands above", diffOf("dir/a", change),
			"dir/a · +1 -1|@@ -0,7 +0,7 @@| one| two| three|-old|+new| four| five| six",
		},
		{
			"a diff that was cut", "edited a\n" + diffOf("a", change) + "[20 further lines of the diff not shown]",
			"edited a · +1 -1 or more|@@ -0,7 +0,7 @@| one| two| three|-old|+new| four| five| six|[20 further lines of the diff not shown]",
		},
		{
			"a long change and a short one", "edited a\n" + diffOf("a", strings.Repeat("-x\n", 30)+strings.Repeat("+y\n", 30), change),
			"edited a · +31 -31|-x|-x|-x|-x|-x|+y|+y|+y|+y|+y|-old|+new|… 50 more changed lines",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			screen := screenOf(t, ui.Options{Width: 80}, trajectory.ToolResult{Content: text(test.content)})
			want := "  ✓ ok · 0 ms\n  │ " + strings.ReplaceAll(test.want, "|", "\n  │ ") + "\n"
			if diff := cmp.Diff(want, screen); diff != "" {
				t.Errorf("screen (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLiveEditsNameEveryFile(t *testing.T) {
	var content strings.Builder
	for i := range 12 {
		name := fmt.Sprintf("dir/file%d", i)
		content.WriteString("edited " + name + "\n" + diffOf(name, "-old\n+new\n"))
	}
	screen := screenOf(t, ui.Options{Width: 80}, trajectory.ToolResult{Content: text(content.String())})
	for i := range 12 {
		if line := fmt.Sprintf("  │ edited dir/file%d · +1 -1\n", i); !strings.Contains(screen, line) {
			t.Errorf("%q is missing in\n%s", line, screen)
		}
	}
	if lines := strings.Count(screen, "\n"); lines > 30 {
		t.Errorf("%d lines for one result:\n%s", lines, screen)
	}
}

func TestLiveEditsShowTheDifferenceOfLongLines(t *testing.T) {
	same := strings.Repeat("a", 200)
	content := "edited a\n" + diffOf("a", "-"+same+"OLD\n+"+same+"NEW\n")
	screen := screenOf(t, ui.Options{Width: 80}, trajectory.ToolResult{Content: text(content)})
	for _, want := range []string{"aaaOLD\n", "aaaNEW\n", "│ -…aaa", "│ +…aaa"} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is missing in\n%s", want, screen)
		}
	}
}

func TestLivePreviewCountsWhatTheModelDidNotGet(t *testing.T) {
	for _, test := range []struct{ name, content, want string }{
		{"lines left out", "1\n2\n3\n4\n[… 99,990 lines (575.8 KiB) omitted …]\n99995\n6\n7\n99998\n99999\n100000\n", "1|2|3|… 99,995 more lines|99999|100000"},
		{"a part of a line", "1\n2\n3\n4\n[… 5 KiB of a line omitted …]\n6\n7\n8\n", "1|2|3|… 3 more lines|7|8"},
		{"no number", "1\n2\n3\n4\n[… 99999999999999999999 lines (1 KiB) omitted …]\n6\n7\n8\n", "1|2|3|… 3 more lines|7|8"},
		{"no line for two", "1\n2\n3\n4\n5\n6\n7\n", "1|2|3|4|5|6|7"},
	} {
		t.Run(test.name, func(t *testing.T) {
			screen := screenOf(t, ui.Options{Width: 80}, trajectory.ToolResult{ExitCode: code(0), Content: text(test.content + "[exit code 0]")})
			want := "  ✓ exit 0 · 0 ms\n  │ " + strings.ReplaceAll(test.want, "|", "\n  │ ") + "\n"
			if diff := cmp.Diff(want, screen); diff != "" {
				t.Errorf("screen (-want +got):\n%s", diff)
			}
		})
	}
}
