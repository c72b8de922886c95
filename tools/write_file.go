package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/internal/workspace"
)

type writeFile struct {
	changing
	def Definition
}

var _ Tool = (*writeFile)(nil)

// NewWriteFile makes the write_file tool over a workspace, which the caller
// closes. seen is what the agent knows of files.
func NewWriteFile(w *workspace.Workspace, seen *Seen) Tool {
	return &writeFile{changing: changing{w, seen}, def: Definition{
		Name:        "write_file",
		Description: describe("write_file", map[string]string{"Mount": places(w, true), "Form": spellForm}),
		Schema: object(2,
			field{"path", "string", "The file, relative to the workspace or absolute under " + places(w, true) + "."},
			field{"content", "string", "The whole content."},
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
	in.Path = named(t.workspace, in.Path)
	return t.run(ctx, 1, func(k *call) error {
		if err := k.writeFile(in.Path, in.Content); err != nil {
			return k.wrong(in.Path, err)
		}
		return nil
	})
}

// takesSpelling answers a write that would put a spelling in the place of bytes.
const takesSpelling = "content has bytes spelled as " + spellForm + ", as read_file shows some of this file, and would be written as these characters: " +
	"use edit_file or apply_patch for what changes, which keep the rest and take the spelling for the bytes"

// respells tells whether a content that is to take the place of old may have
// been read as it is shown: it spells bytes, and something in old is spelled. A
// CR and a bracket count only where the content spells one, too: a file may have
// them that is shown as it is else, and text may be about spellings.
func respells(old, content string) bool {
	if unspell(content) == content {
		return false
	}
	for len(old) > 0 {
		size, spelled := unit(old)
		switch char := old[:size]; {
		case !spelled:
		case char != "\r" && char != spellOpen, strings.Contains(content, spelling(char)):
			return true
		}
		old = old[size:]
	}
	return false
}

// holdsThat answers a write of what is there.
const holdsThat = " holds exactly that already: nothing to do"

func (k *call) writeFile(path, content string) error {
	t, err := k.changes.Place(path)
	if err != nil {
		return err
	}
	o := &outcome{target: t, path: path, known: true}
	k.outcomes = append(k.outcomes, o)
	if unspell(content) != content {
		o.notes = append(o.notes, "content has a byte spelled as "+spellForm+", which was written as these characters: only edit_file and apply_patch take it for the byte")
	}
	size := func(data []byte) string { // of the file: what a write keeps is in it as well
		return fmt.Sprintf("%s, %s", output.Count(int64(len(data)), "byte"), output.Count(int64(lineCount(content)), "line"))
	}
	if !t.Exists {
		t.Write([]byte(content))
		o.text = "created " + visibleName(t.Name) + ": " + size([]byte(content))
		return nil
	}
	old, kept, err := k.former(t)
	if err != nil {
		return err
	}
	data, form, err := likeBefore(old, kept, content)
	if err != nil {
		return err
	}
	if t.Version == workspace.VersionOf(data) {
		o.same, o.text = true, visibleName(t.Name)+holdsThat
		if len(form) > 0 {
			o.text = visibleName(t.Name) + " holds that already, but for what a write keeps: nothing was done. Use bash to change that"
			o.notes = append(o.notes, form...)
		}
		return nil
	}
	switch known := k.seen.of(k.workspace, t); {
	case known == stale:
		return answer(changedSince)
	case known == unseen && t.Size() > 0:
		return answer("it exists and you have not read it: read it first, so that nothing in it is lost unseen; or use edit_file, or another name")
	case respells(old, content):
		return answer(takesSpelling)
	}
	t.Write(data)
	o.text = "overwrote " + visibleName(t.Name) + ": " + size(data)
	o.notes = append(o.notes, form...)
	return nil
}

// former is the text that a file to be overwritten has, "" where it is too
// large to be edited.
func (k *call) former(t *workspace.Target) (string, encoding, error) {
	if t.Size() > MaxEditBytes {
		return "", asIs, nil
	}
	content, err := t.Content(MaxEditBytes)
	if errors.Is(err, workspace.ErrTooLarge) { // it grew just now
		return "", asIs, nil
	}
	if err != nil {
		return "", asIs, err
	}
	text, kept, err := decodeText(content)
	if err != nil {
		return "", asIs, nil // what it was cannot be gone on with
	}
	return text, kept, nil
}

// likeBefore gives a new content what a reader of the old one is not shown: its
// encoding, its byte order mark and its line ends. form says which.
func likeBefore(old string, kept encoding, content string) (data []byte, form []string, err error) {
	const mark = "\ufeff"
	if strings.HasPrefix(old, mark) && !strings.HasPrefix(content, mark) {
		content = mark + content
		form = append(form, "the byte order mark at its start was kept")
	}
	if f := fold(old); len(f.crlf) > 0 && !f.mixed && !strings.Contains(content, "\r") && strings.Contains(content, "\n") {
		content = strings.ReplaceAll(content, "\n", "\r\n")
		form = append(form, "its lines still end in CRLF")
	}
	if kept != asIs {
		form = append(form, staysUTF16)
	}
	data, err = kept.encode(content)
	return data, form, err
}

// lineCount is the number of lines, the last of which need not be ended.
func lineCount(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
