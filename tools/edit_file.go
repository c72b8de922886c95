package tools

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/internal/workspace"
)

// maxEdits is how many edits of one file a call may make.
const maxEdits = 500

type editFile struct {
	changing
	def Definition
}

var _ Tool = (*editFile)(nil)

// NewEditFile makes the edit_file tool over a workspace, which the caller
// closes. seen is what the agent knows of files.
func NewEditFile(w *workspace.Workspace, seen *Seen) Tool {
	return &editFile{changing: changing{w, seen}, def: Definition{
		Name: "edit_file",
		Description: describe("edit_file", map[string]string{
			"Mount": places(w, true), "Form": spellForm, "Max": output.Size(MaxEditBytes),
		}),
		Schema: editSchema(places(w, true)),
		Effect: Write,
	}}
}

func editSchema(places string) *jsonschema.Schema {
	one := []field{
		{"old_text", "string", "The text to replace, exactly as it stands in the file."},
		{"new_text", "string", "The text to put in its place."},
		{"replace_all", "boolean", "Replace every occurrence; the default is false."},
	}
	path := field{"path", "string", "The file, relative to the workspace or absolute under " + places + "."}
	edits := field{"edits", "array", "Several edits of the file instead of old_text and new_text."}
	several := append(append([]field{path}, one...), edits)
	s := object(0, append(several, field{"files", "array", "Several files with their edits, instead of all other fields."})...)
	s.Properties["edits"].Items = object(2, one...)
	s.Properties["files"].Items = object(1, several...)
	s.Properties["files"].Items.Properties["edits"].Items = object(2, one...)
	return s
}

func (t *editFile) Definition() Definition { return t.def }

// editArguments are those of a call: of one file, or of several.
type editArguments struct {
	fileEdits
	Files []fileEdits `json:"files"`
}

// fileEdits are the edits of one file: one, or several.
type fileEdits struct {
	Path string `json:"path"`
	oneEdit
	Edits []oneEdit `json:"edits"`
}

type oneEdit struct {
	Old *string `json:"old_text"`
	New *string `json:"new_text"`
	All bool    `json:"replace_all"`
}

// allOfOne answers a replace_all beside several edits.
const allOfOne = "replace_all is there beside several edits: put it into those of them that it is meant for"

// given tells whether an edit is one. Some models fill in blanks for what they
// leave out.
func (e oneEdit) given() bool {
	return e.Old != nil && *e.Old != "" || e.New != nil && *e.New != ""
}

// list gives both forms of the arguments in the one of several files. What does
// not fit together is an answer.
func (a editArguments) list() ([]fileEdits, error) {
	switch {
	case len(a.Files) == 0 && a.Path == "":
		return nil, answer(`"path" is missing: give path, old_text and new_text; or path and edits; or files`)
	case len(a.Files) == 0:
		return []fileEdits{a.fileEdits}, nil
	case a.Path != "" || a.given() || len(a.Edits) > 0:
		return nil, answer("files stands for itself: leave out path, old_text, new_text and edits, or leave out files")
	case a.All:
		return nil, answer(allOfOne)
	}
	return a.Files, nil
}

// edits checks the edits of one file by themselves.
func (f fileEdits) edits() ([]edit, error) {
	list := f.Edits
	switch {
	case len(list) > 0 && f.given():
		return nil, answer("old_text and new_text are there beside edits: put that edit into edits, or leave edits out")
	case len(list) > 0 && f.All:
		return nil, answer(allOfOne)
	case len(list) == 0 && (f.Old != nil || f.New != nil):
		list = []oneEdit{f.oneEdit}
	case len(list) == 0:
		return nil, answer("old_text and new_text are missing, or edits instead of them")
	case len(list) > maxEdits:
		return nil, answer(fmt.Sprintf("a call may make %d edits of a file at most, and these are %d: make several calls", maxEdits, len(list)))
	}
	edits := make([]edit, len(list))
	for i, e := range list {
		at := ofEdits(i, len(list))
		switch {
		case e.Old == nil || e.New == nil:
			return nil, answer(at + "old_text and new_text are both needed (new_text may be empty)")
		case *e.Old == "":
			return nil, answer(at + "old_text is empty: give the text to replace, or use write_file to write the whole file")
		case *e.Old == *e.New:
			return nil, answer(at + "old_text and new_text are the same")
		}
		edits[i] = newEdit(*e.Old, *e.New, e.All)
	}
	return edits, nil
}

func (t *editFile) Execute(ctx context.Context, args json.RawMessage) (Result, error) {
	var in editArguments
	if err := decode(args, &in); err != nil {
		return Error(err.Error()), nil
	}
	if ctx.Err() != nil {
		return canceled(), nil
	}
	files, err := in.list()
	if err != nil {
		return Error(err.Error()), nil
	}
	return t.run(ctx, len(files), func(k *call) error {
		for _, f := range files {
			f.Path = named(k.workspace, f.Path)
			if err := k.editFile(ctx, f); err != nil {
				if err := k.wrong(f.Path, err); err != nil || k.full() {
					return err
				}
			}
		}
		return nil
	})
}

func (k *call) editFile(ctx context.Context, f fileEdits) error {
	edits, err := f.edits()
	if err != nil {
		return err
	}
	o, data, err := k.edit(f.Path, func(text string, tolerant bool) (edited, error) {
		return applyEdits(ctx, text, edits, tolerant)
	})
	if err != nil {
		return err
	}
	o.target.Write(data)
	for _, e := range edits {
		if e.all {
			o.text += ": replaced " + output.Count(int64(o.edited.places), "occurrence")
			break
		}
	}
	o.diff = o.edited.diff(visibleName(o.target.Name))
	return nil
}
