package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/internal/workspace"
)

type writeFile struct {
	workspace *workspace.Workspace
	def       Definition
}

var _ Tool = (*writeFile)(nil)

// NewWriteFile makes the write_file tool over a workspace, which the caller
// closes.
func NewWriteFile(w *workspace.Workspace) Tool {
	return &writeFile{workspace: w, def: Definition{
		Name:        "write_file",
		Description: describe("write_file", map[string]string{"Mount": places(w, true)}),
		Schema: object(2,
			field{"path", "string", "The file, relative to the workspace or absolute under " + places(w, true) + "."},
			field{"content", "string", "The whole content, written byte for byte."},
		),
		Effect: Write,
	}}
}

func (t *writeFile) Definition() Definition { return t.def }

func (t *writeFile) Execute(ctx context.Context, args json.RawMessage) (Result, error) {
	var in struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	if err := decode(args, &in); err != nil {
		return Error(err.Error()), nil
	}
	if ctx.Err() != nil {
		return canceled(), nil
	}
	done, err := t.workspace.WriteFile(in.Path, []byte(in.Content))
	if err != nil {
		return refusal(err)
	}
	did := "overwrote"
	if done.Created {
		did = "created"
	}
	return Text(fmt.Sprintf("%s %s: %s, %s%s", did, visibleName(done.Name),
		output.Count(int64(len(in.Content)), "byte"), output.Count(int64(lineCount(in.Content)), "line"),
		via(in.Path, done.Name, done.Linked))), nil
}

// lineCount is the number of lines, the last of which need not be ended.
func lineCount(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
