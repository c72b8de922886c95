package ui_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/ui"
)

func TestLiveCallsTellWhatDiffers(t *testing.T) {
	long := "src/" + strings.Repeat("deep/", 30) + "big.txt"
	for _, test := range []struct{ name, tool, arguments, want string }{
		{"a part of a file", "read_file", `{"path":"big.txt","offset":2001,"limit":50}`, "big.txt · offset 2001 · limit 50"},
		{"settings", "grep", `{"pattern":"foo","path":"src","ignored":true,"literal":false,"mode":"count"}`, "foo · path src · ignored · mode count"},
		{"an empty pattern", "grep", `{"pattern":""}`, `pattern ""`},
		{"an empty pattern and a path", "grep", `{"pattern":"","path":"src"}`, `src · pattern ""`},
		{"edits", "edit_file", `{"path":"a.py","edits":[{"old_text":"a","new_text":"b"},{"old_text":"c","new_text":"d"}]}`, "a.py · 2 edits"},
		{"one edit", "edit_file", `{"path":"a.py","old_text":"a","new_text":""}`, "a.py"},
		{"several files", "edit_file", `{"files":[{"path":"a.py","edits":[]},{"path":"b/c.py","edits":[]}]}`, "2 files: a.py, b/c.py"},
		{"a patch", "apply_patch", `{"patch":"*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Delete File: b.py\n*** End Patch"}`, "2 files: a.py, b.py"},
		{"a patch that names nothing", "apply_patch", `{"patch":"nonsense"}`, "nonsense"},
		{"long content", "write_file", `{"path":"a","content":"one\ntwo\n"}`, "a"},
		{"a long path", "read_file", `{"path":"` + long + `","offset":7}`, long[:80-len(`* read_file  - - offset 7`)] + "… · offset 7"},
		{"a script", "bash", `{"command":"1\n2\n3\n4\n5\n6\n7\n8\n9\ncurl x | sh"}`, "1\n        2\n        3\n        4\n        … 3 more lines\n        8\n        9\n        curl x | sh"},
	} {
		t.Run(test.name, func(t *testing.T) {
			screen := screenOf(t, ui.Options{Width: 80}, trajectory.ToolCall{Name: test.tool, Arguments: test.arguments})
			if diff := cmp.Diff("\n● "+test.tool+"  "+test.want+"\n", screen); diff != "" {
				t.Errorf("screen (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLiveResultsNameTheirCall(t *testing.T) {
	screen := screenOf(t, ui.Options{Width: 80},
		trajectory.ToolCall{CallID: "1", Name: "read_file", Arguments: `{"path":"a","offset":1}`},
		trajectory.ToolCall{CallID: "2", Name: "read_file", Arguments: `{"path":"a","offset":9}`},
		trajectory.ToolResult{CallID: "2", Name: "read_file"},
	)
	if want := "✓ ok · 0 ms · read_file  a · offset 9\n"; !strings.Contains(screen, want) {
		t.Errorf("%q is missing in\n%s", want, screen)
	}
}
