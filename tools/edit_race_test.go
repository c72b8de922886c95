package tools_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/tools"
)

// Two programs on one folder, each with its own lock and its own agent, lose
// no change of each other: one that goes by an old version is refused.
func TestTwoProgramsLoseNothing(t *testing.T) {
	const each = 30
	f := newFiles(t)
	f.put(t, "file", "start\n")
	var group sync.WaitGroup
	for p := range 2 {
		space, err := workspace.Open(f.dir, "/workspace", sandbox.Owner{UID: os.Geteuid(), GID: os.Getegid(), Umask: 0o022})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { space.Close() })
		seen := new(tools.Seen)
		read, write := tools.NewReadFile(space, seen), tools.NewWriteFile(space, seen)
		group.Go(func() {
			for i := range each {
				appendLine(t, read, write, fmt.Sprintf("%d of %d", i, p))
			}
		})
	}
	group.Wait()
	content := f.content(t, "file")
	for p := range 2 {
		for i := range each {
			if line := fmt.Sprintf("\n%d of %d\n", i, p); strings.Count(content, line) != 1 {
				t.Errorf("%q is there %d times", line, strings.Count(content, line))
			}
		}
	}
}

// appendLine reads the file and writes it with one more line, until nothing
// came in between.
func appendLine(t *testing.T, read, write tools.Tool, line string) {
	for {
		shown, err := read.Execute(t.Context(), json.RawMessage(`{"path":"file"}`))
		if err != nil {
			t.Error(err)
			return
		}
		var content strings.Builder
		for l := range strings.SplitSeq(strings.TrimSuffix(shown.Parts[0].Text, "\n"), "\n") {
			_, text, _ := strings.Cut(l, "\t")
			content.WriteString(text + "\n")
		}
		if strings.Contains(content.String(), "\n"+line+"\n") {
			return // it was in place when the other went on from there
		}
		args, err := json.Marshal(map[string]string{"path": "file", "content": content.String() + line + "\n"})
		if err != nil {
			t.Error(err)
			return
		}
		res, err := write.Execute(t.Context(), args)
		if err != nil {
			t.Error(err)
			return
		}
		if !res.IsError {
			return
		}
		if text := res.Parts[0].Text; !strings.Contains(text, "changed") && !strings.Contains(text, "was replaced by something else") {
			t.Error(text)
			return
		}
	}
}
