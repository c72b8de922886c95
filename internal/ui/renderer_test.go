package ui_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/ui"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func code(n int) *int { return &n }

func text(s string) []trajectory.Part { return []trajectory.Part{{Type: "text", Text: s}} }

// runEvents are a run with everything that a screen must cope with.
func runEvents() []trajectory.Body {
	many := "first\nsecond\nthird\n" + strings.Repeat("middle\n", 40) + "before last\nlast\n"
	return []trajectory.Body{
		trajectory.Start{Session: "s1", Task: "Make it greet", Model: "script:demo"},
		trajectory.Message{Role: "user", Text: "Make it greet\nwith care"},
		trajectory.Message{Role: "assistant", Text: "I'll create the file, then run it."},
		trajectory.ToolCall{CallID: "1", Name: "write_file", Arguments: `{"content":"print(1)\n","path":"hello.py"}`},
		trajectory.ToolResult{CallID: "1", Name: "write_file", DurationMS: 3, Content: text("created hello.py (1 line, 9 bytes)")},
		trajectory.ToolCall{CallID: "2", Name: "bash", Arguments: `{"command":"set -e\npython3 hello.py\n"}`},
		trajectory.ToolResult{CallID: "2", Name: "bash", Status: "exited", ExitCode: code(1), DurationMS: 1250, Content: text(many)},
		trajectory.Notice{Kind: "retry", Text: "the server is busy (429); next try in 7 s"},
		trajectory.Message{Role: "assistant", Text: "\x1b]0;owned\x07It \x1b[31mfailed\x1b[0m.\rAll good!"},
		trajectory.ToolCall{CallID: "3", Name: "read_file", Arguments: `{"path":"目录/一个名字非常长的文件，它的名字比终端的一行还要长，所以必须在中间被剪断，而且不能剪断一个字.txt"}`},
		trajectory.ToolCall{CallID: "4", Name: "read\x1b[2J_file", Arguments: `{"path":"b\u001b[2J.txt"}`},
		trajectory.ToolResult{CallID: "3", Name: "read_file", DurationMS: 1, Content: text("中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文\n\tindented")},
		trajectory.ToolResult{CallID: "4", Name: "read_file", DurationMS: 2, IsError: true, Content: text("no such file: b.txt")},
		trajectory.ToolCall{CallID: "5", Name: "bash", Arguments: `{"command":"sleep 60","timeout_seconds":2}`},
		trajectory.ToolResult{CallID: "5", Name: "bash", Status: "timeout", DurationMS: 2003, IsError: true, Content: text("timed out after 2 s")},
		trajectory.ToolCall{CallID: "6", Name: "view", Arguments: `not json`},
		trajectory.ToolResult{CallID: "6", Name: "view", DurationMS: 9, Content: []trajectory.Part{{Type: "image", MediaType: "image/png", Data: make([]byte, 2048)}}},
		trajectory.Message{Role: "user", Text: "the same call came three times"},
		trajectory.Message{Role: "assistant", Text: "It greets now.\n"},
		trajectory.End{Stop: "finished", Final: "It greets now.", Turns: 5},
	}
}

func header() ui.Header {
	return ui.Header{
		Session: "20260102-030405-abcd", Workspace: "/home/me/project", MountPoint: "/workspace",
		Image: "belljar/default:0123456789ab", Engine: "Docker Engine 20.10.24, runc", Model: "script:demo",
		Task: "Make it greet\nwith care", Network: "none", Loosened: []string{"network bridge"},
		Limits: trajectory.Limits{Memory: 2 << 30, CPUs: 2, Pids: 512},
	}
}

// show renders the run and gives what reached the screen.
func show(opts ui.Options) string {
	var screen bytes.Buffer
	r := ui.NewRenderer(&screen, opts)
	r.Header(header())
	for _, event := range runEvents() {
		if message, ok := event.(trajectory.Message); ok && message.Role == "assistant" {
			for _, piece := range strings.SplitAfter(message.Text, " ") {
				r.Text(piece)
			}
		}
		if err := r.Record(event); err != nil {
			fmt.Fprintln(&screen, "unexpected error:", err)
		}
	}
	r.Totals(ui.Totals{
		Stop: "finished", Good: true, Turns: 5, Took: 83 * time.Second,
		Usage: trajectory.Usage{Input: 12345, Output: 678, Estimated: true, CostUSD: new(0.0421)}, Waits: 2, Waited: 3 * time.Second,
	})
	r.Close()
	return screen.String()
}

func TestRendererGolden(t *testing.T) {
	for _, test := range []struct {
		name string
		opts ui.Options
	}{
		{"plain-80", ui.Options{Width: 80}},
		{"color-80", ui.Options{Width: 80, Terminal: ui.Terminal{Terminal: true, Color: true}}},
		{"whole-80", ui.Options{Width: 80, Whole: true}},
		{"plain-40", ui.Options{Width: 40}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := show(test.opts)
			path := filepath.Join("testdata", test.name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the screen changed (-want +got); -update rewrites it:\n%s", diff)
			}
		})
	}
}

func TestRendererLinesFitTheTerminal(t *testing.T) {
	measure := runewidth.Condition{StrictEmojiNeutral: true}
	for i, line := range strings.Split(show(ui.Options{Width: 80}), "\n") {
		if width := measure.StringWidth(line); width > 80 {
			t.Errorf("line %d has %d columns: %q", i+1, width, line)
		}
	}
}

func TestRendererLetsNothingSteerTheTerminal(t *testing.T) {
	if screen := show(ui.Options{Width: 80}); strings.ContainsAny(screen, "\x1b\r\a\b") {
		t.Errorf("control characters on a plain screen: %q", screen)
	}
	// With colours only the renderer's own sequences are there: ESC [ … m.
	rest := show(ui.Options{Width: 80, Terminal: ui.Terminal{Color: true}})
	for {
		_, after, found := strings.Cut(rest, "\x1b")
		if !found {
			break
		}
		end := strings.IndexAny(after, "m")
		if end < 0 || strings.Trim(after[:end], "[0123456789") != "" {
			t.Fatalf("a sequence that is not a colour: %q", after[:min(len(after), 20)])
		}
		rest = after
	}
}

func TestRendererShowsRetriedAnswerOnce(t *testing.T) {
	var screen bytes.Buffer
	r := ui.NewRenderer(&screen, ui.Options{Width: 80})
	r.Text("Half an ans")
	r.Notice("the stream was cut; trying again")
	r.Text("The whole ")
	r.Text("answer.")
	if err := r.Record(trajectory.Message{Role: "assistant", Text: "The whole answer."}); err != nil {
		t.Fatal(err)
	}
	r.Close()
	want := "\nHalf an ans\nbelljar: the stream was cut; trying again\n\nThe whole answer.\n"
	if diff := cmp.Diff(want, screen.String()); diff != "" {
		t.Error(diff)
	}
}

func TestRendererSpoke(t *testing.T) {
	r := ui.NewRenderer(&bytes.Buffer{}, ui.Options{Width: 80})
	defer r.Close()
	if r.Spoke("done") || r.Spoke("") {
		t.Error("Spoke before anything was said")
	}
	_ = r.Record(trajectory.Message{Role: "assistant", Text: "done\n"})
	if !r.Spoke("done") || r.Spoke("other") || r.Spoke("") {
		t.Error("Spoke must be true for the last answer only")
	}
}

func TestRendererLiveLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var screen bytes.Buffer
		r := ui.NewRenderer(&screen, ui.Options{Width: 80, Terminal: ui.Terminal{Terminal: true, Live: true}})
		_ = r.Record(trajectory.ToolCall{CallID: "1", Name: "bash", Arguments: `{"command":"make"}`})
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait()
		_ = r.Record(trajectory.ToolResult{CallID: "1", Name: "bash", ExitCode: code(0), DurationMS: 2500})
		r.Close()
		r.Close()
		want := "\n● bash  make\n" +
			"\r  running 1 s\x1b[K\r  running 2 s\x1b[K" +
			"\r\x1b[K  ✓ exit 0 · 2.5 s\n"
		if diff := cmp.Diff(want, screen.String()); diff != "" {
			t.Error(diff)
		}
	})
}
