package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/internal/workspace"
)

type applyPatch struct {
	changing
	def Definition
}

var _ Tool = (*applyPatch)(nil)

// NewApplyPatch makes the apply_patch tool over a workspace, which the caller
// closes. seen is what the agent knows of files.
func NewApplyPatch(w *workspace.Workspace, seen *Seen) Tool {
	return &applyPatch{changing: changing{w, seen}, def: Definition{
		Name: "apply_patch",
		Description: describe("apply_patch", map[string]string{
			"Mount": places(w, true), "Form": spellForm, "Max": output.Size(MaxEditBytes),
		}),
		Schema: object(1, field{"patch", "string", "The patch, from " + patchBegin + " to " + patchEnd + "."}),
		Effect: Write,
	}}
}

func (t *applyPatch) Definition() Definition { return t.def }

func (t *applyPatch) Execute(ctx context.Context, args json.RawMessage) (Result, error) {
	var in struct {
		Patch string `json:"patch"`
	}
	if err := decode(args, &in); err != nil {
		return Error(err.Error()), nil
	}
	if ctx.Err() != nil {
		return canceled(), nil
	}
	files, err := parsePatch(in.Patch)
	if err != nil {
		return Error(err.Error()), nil
	}
	files = joined(files)
	return t.run(ctx, len(files), func(k *call) error {
		for _, f := range files {
			f.path, f.moveTo = named(k.workspace, f.path), named(k.workspace, f.moveTo)
			if err := k.patch(ctx, f); err != nil {
				if err := k.wrong(f.path, err); err != nil || k.full() {
					return err
				}
			}
		}
		return nil
	})
}

// joined puts the updates of one path together, which some models write apart.
func joined(files []filePatch) []filePatch {
	var list []filePatch
	first := make(map[string]int)
	for _, f := range files {
		if i, before := first[f.path]; before && f.kind == updateFile && f.moveTo == "" {
			list[i].chunks = append(list[i].chunks, f.chunks...)
			continue
		}
		if f.kind == updateFile {
			first[f.path] = len(list)
		}
		list = append(list, f)
	}
	return list
}

func (k *call) patch(ctx context.Context, f filePatch) error {
	switch {
	case f.kind == addFile:
		return k.add(f)
	case f.kind == deleteFile:
		return k.delete(f.path)
	case f.moveTo != "":
		return k.move(ctx, f)
	}
	o, data, err := k.edit(f.path, func(text string, tolerant bool) (edited, error) {
		return applyChunks(ctx, text, f.chunks, tolerant)
	})
	if err != nil {
		return err
	}
	o.target.Write(data)
	o.diff = o.edited.diff(visibleName(o.target.Name))
	return nil
}

func (k *call) add(f filePatch) error {
	t, err := k.changes.Place(f.path)
	if errors.Is(err, workspace.ErrTwice) && k.takesAway(f.path) {
		return answer("the patch takes the file of that name away as well: to replace all of it use write_file, or " + patchUpdate +
			" alone; a new file in the place of one that is moved goes into a second call")
	}
	if err != nil {
		return err
	}
	if t.Exists && t.Version != workspace.VersionOf([]byte(f.added)) {
		return answer("it exists already: use " + patchUpdate + " to change it")
	}
	o := &outcome{target: t, path: f.path, known: true, same: t.Exists, text: visibleName(t.Name) + holdsThat}
	if !t.Exists {
		t.Write([]byte(f.added))
		o.text = fmt.Sprintf("added %s: %s", visibleName(t.Name), output.Count(int64(lineCount(f.added)), "line"))
	}
	k.outcomes = append(k.outcomes, o)
	return nil
}

// takesAway tells whether the call deletes or moves a file.
func (k *call) takesAway(path string) bool {
	return slices.ContainsFunc(k.outcomes, func(o *outcome) bool {
		return o.gone && sameFile(k.workspace, o.path, path)
	})
}

func (k *call) delete(path string) error {
	t, err := k.changes.Existing(path)
	if err != nil {
		return err
	}
	switch known := k.seen.of(k.workspace, t); {
	case known == stale:
		return answer(changedSince)
	case known == unseen && t.Size() > 0:
		return answer("you have not read it: read it first, so that nothing in it is lost unseen")
	}
	t.Remove()
	k.outcomes = append(k.outcomes, &outcome{target: t, path: path, gone: true, text: "deleted " + visibleName(t.Name)})
	return nil
}

// move makes the changes of a file under another name, which nothing may have.
func (k *call) move(ctx context.Context, f filePatch) error {
	var (
		o    *outcome
		data []byte
		err  error
	)
	if len(f.chunks) > 0 {
		o, data, err = k.edit(f.path, func(text string, tolerant bool) (edited, error) {
			return applyChunks(ctx, text, f.chunks, tolerant)
		})
	} else {
		o = &outcome{path: f.path}
		o.target, data, o.known, err = k.existing(f.path)
		k.outcomes = append(k.outcomes, o)
	}
	if err != nil {
		return err
	}
	to, err := k.changes.Place(f.moveTo)
	if errors.Is(err, workspace.ErrTwice) && sameFile(k.workspace, f.path, f.moveTo) {
		return answer(patchMove + " of the patch leads to the file itself: leave that line out")
	}
	if err != nil {
		return err
	}
	if to.Exists {
		return answer(fmt.Sprintf("%s of the patch leads to %s, which exists already", patchMove, visibleName(f.moveTo)))
	}
	o.target.Remove()
	o.gone = true
	o.text = fmt.Sprintf("moved %s to %s", visibleName(o.target.Name), visibleName(to.Name))
	to.WriteLike(data, o.target)
	if len(f.chunks) > 0 {
		o.diff = o.edited.diff(visibleName(to.Name))
	}
	k.outcomes = append(k.outcomes, &outcome{target: to, path: f.moveTo, known: o.known})
	return nil
}
