package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/internal/workspace"
)

// MaxEditBytes is the size of the largest file that edit_file takes: it holds
// the file in memory a few times over.
const MaxEditBytes = 10 << 20

type editFile struct {
	workspace *workspace.Workspace
	def       Definition
}

var _ Tool = (*editFile)(nil)

// NewEditFile makes the edit_file tool over a workspace, which the caller
// closes.
func NewEditFile(w *workspace.Workspace) Tool {
	return &editFile{workspace: w, def: Definition{
		Name: "edit_file",
		Description: describe("edit_file", map[string]string{
			"Mount": places(w, true), "Form": spellForm, "Max": output.Size(MaxEditBytes),
		}),
		Schema: object(3,
			field{"path", "string", "The file, relative to the workspace or absolute under " + places(w, true) + "."},
			field{"old_text", "string", "The text to replace, exactly as it stands in the file."},
			field{"new_text", "string", "The text to put in its place."},
			field{"replace_all", "boolean", "Replace every occurrence; the default is false."},
		),
		Effect: Write,
	}}
}

func (t *editFile) Definition() Definition { return t.def }

// An answer is an error that is told to the model.
type answer string

func (a answer) Error() string { return string(a) }

func (t *editFile) Execute(ctx context.Context, args json.RawMessage) (Result, error) {
	var in struct {
		Path string `json:"path"`
		Old  string `json:"old_text"`
		New  string `json:"new_text"`
		All  bool   `json:"replace_all"`
	}
	if err := decode(args, &in); err != nil {
		return Error(err.Error()), nil
	}
	switch {
	case ctx.Err() != nil:
		return canceled(), nil
	case in.Old == "":
		return Error("old_text is empty: give the text to replace, or use write_file to write the whole file"), nil
	case in.Old == in.New:
		return Error("no change: old_text and new_text are the same"), nil
	}
	var (
		changed edited
		change  = edit{old: unspell(in.Old), new: unspell(in.New), all: in.All}
	)
	done, err := t.workspace.UpdateFile(in.Path, MaxEditBytes, func(content []byte) ([]byte, error) {
		var err error
		changed, err = change.apply(string(content))
		return []byte(changed.content), err
	})
	var told answer
	switch {
	case errors.As(err, &told):
		return Error(fmt.Sprintf("%s was not changed: %s", visibleName(in.Path), told)), nil
	case errors.Is(err, fs.ErrNotExist):
		return Error(err.Error() + similar(t.workspace, in.Path)), nil
	case errors.Is(err, workspace.ErrTooLarge):
		return Error(fmt.Sprintf("%q is over %s, the most that edit_file takes: use bash with sed or a script", in.Path, output.Size(MaxEditBytes))), nil
	case err != nil:
		return refusal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "edited %s%s", visibleName(done.Name), via(in.Path, done.Name, done.Linked))
	if in.All {
		fmt.Fprintf(&b, ": replaced %s", output.Count(int64(len(changed.regions)), "occurrence"))
	}
	b.WriteString("\n" + changed.diff(visibleName(done.Name)))
	return Text(b.String()), nil
}
