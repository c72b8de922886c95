package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/internal/utf16text"
	"github.com/belljar/belljar/internal/workspace"
)

// Bounds of one call of read_file.
const (
	// ReadLines is the largest number of lines.
	ReadLines = 2000
	// ReadBytes is the largest number of bytes of lines.
	ReadBytes = 50 << 10
	// ReadLineChars is the number of characters after which a line is clipped.
	ReadLineChars = 2000
)

type readFile struct {
	workspace *workspace.Workspace
	seen      *Seen
	def       Definition
}

var _ Tool = (*readFile)(nil)

// NewReadFile makes the read_file tool over a workspace, which the caller
// closes. seen remembers for the agent what was read.
func NewReadFile(w *workspace.Workspace, seen *Seen) Tool {
	return &readFile{workspace: w, seen: seen, def: Definition{
		Name: "read_file",
		Description: describe("read_file", map[string]string{
			"Mount": places(w, false), "Lines": output.Count(ReadLines, "line"), "Bytes": output.Size(ReadBytes),
			"LineChars": output.Count(ReadLineChars, "character"), "Form": spellForm,
		}),
		Schema: object(1,
			field{"path", "string", "The file, relative to the workspace or absolute under " + places(w, false) + "."},
			field{"offset", "integer", "The first line to read; 1 is the first of the file and the default."},
			field{"limit", "integer", fmt.Sprintf("How many lines to read; default and largest %d.", ReadLines)},
		),
		Effect: Read,
	}}
}

func (t *readFile) Definition() Definition { return t.def }

func (t *readFile) Execute(ctx context.Context, args json.RawMessage) (Result, error) {
	// Numbers are floats here: 3.0 is an integer to JSON, but not to Go.
	var in struct {
		Path   string  `json:"path"`
		Offset float64 `json:"offset"`
		Limit  float64 `json:"limit"`
	}
	if err := decode(args, &in); err != nil {
		return Error(err.Error()), nil
	}
	if in.Offset < 0 || in.Limit < 0 {
		return Error("offset and limit must not be negative: lines are counted from 1"), nil
	}
	in.Path = named(t.workspace, in.Path)
	f, err := t.workspace.Open(in.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return Error(err.Error() + similar(ctx, t.workspace, in.Path)), nil
	}
	if err != nil {
		return refusal(err)
	}
	defer f.Close()
	if f.Info.IsDir() {
		return listFolder(f, in.Path), nil
	}
	// Before the rest is read: what changes meanwhile counts as not yet seen.
	version, err := f.Version()
	if err != nil {
		return refusal(err)
	}
	r := newLineReader(f)
	if mediaType, ok := r.image(); ok {
		res := readImage(r.r, f, in.Path, mediaType)
		t.seen.saw(f.Name, f.ID(), version) // also one that is only described
		return withFile(res, f, version), nil
	}
	if kind, hint := r.binary(); kind != "" {
		// It may be written over: more of it cannot be seen.
		t.seen.saw(f.Name, f.ID(), version)
		text := fmt.Sprintf("%q is %s of %s, and only text can be read", in.Path, kind, output.Size(f.Info.Size()))
		if hint != "" {
			text += "; " + hint
		}
		return withFile(Error(text), f, version), nil
	}
	const largest = 1 << 53 // what a JSON number tells apart
	offset, limit := int64(min(in.Offset, largest)), ReadLines
	if in.Limit >= 1 && in.Limit < ReadLines {
		limit = int(in.Limit)
	}
	p := &page{first: max(offset, 1), limit: limit}
	if r, err = p.decode(ctx, r, f); err != nil {
		return Error(fmt.Sprintf("reading %q: %v", in.Path, cause(err))), nil
	}
	if err := p.read(ctx, r); err != nil {
		if ctx.Err() != nil {
			return canceled(), nil
		}
		return Error(fmt.Sprintf("reading %q: %v", in.Path, cause(err))), nil
	}
	if in.Limit > ReadLines {
		p.notef("limit was more than the largest, %d", ReadLines)
	}
	if f.Linked {
		p.notef("%s leads through a link to %s", visibleName(in.Path), visibleName(f.Name))
	}
	res := p.result(in.Path)
	if !res.IsError {
		t.seen.saw(f.Name, f.ID(), version)
	}
	return withFile(res, f, version), nil
}

// withFile adds to a result which content was read.
func withFile(res Result, f *workspace.File, version workspace.Version) Result {
	if sum := version.SHA256(); sum != "" {
		res.Files = []FileSum{{f.Name, sum}}
	}
	return res
}

// decode gives a reader of the text that is shown of a file which is in another
// form: UTF-16, or a notebook.
func (p *page) decode(ctx context.Context, r *lineReader, f *workspace.File) (*lineReader, error) {
	head, _ := r.r.Peek(sniffed)
	if order, ok := utf16text.Order(head); ok {
		p.wide = true
		return newLineReader(utf16text.NewReader(r.r, order)), nil
	}
	if !strings.HasSuffix(f.Name, ".ipynb") {
		return r, nil
	}
	text, err := readNotebook(ctx, r.r)
	if err == nil {
		p.notef("a notebook is shown as its cells: the numbers are those of this view. In the file it is JSON, which bash shows and edit_file changes")
		return newLineReader(strings.NewReader(text)), nil
	}
	if errors.Is(err, errLargeJSON) {
		p.notef("the notebook is too large to be shown as its cells: this is its JSON")
	}
	_, err = f.Seek(0, io.SeekStart)
	return newLineReader(f), err
}
