package tools

import (
	"context"
	"encoding/json"
)

var (
	_ Assessor = (*writeFile)(nil)
	_ Assessor = (*editFile)(nil)
	_ Assessor = (*applyPatch)(nil)
)

// Assess tells what is out of the ordinary about the file of a call.
func (t *writeFile) Assess(_ context.Context, args json.RawMessage) Risk {
	var in struct {
		Path string `json:"path"`
	}
	if decode(args, &in) != nil {
		return Risk{}
	}
	return riskOfChange([]string{in.Path}, nil)
}

// Assess tells what is out of the ordinary about the files of a call.
func (t *editFile) Assess(_ context.Context, args json.RawMessage) Risk {
	var in editArguments
	if decode(args, &in) != nil {
		return Risk{}
	}
	var paths []string
	for _, file := range append([]fileEdits{in.fileEdits}, in.Files...) {
		if file.Path != "" {
			paths = append(paths, file.Path)
		}
	}
	return riskOfChange(paths, nil)
}

// Assess tells what is out of the ordinary about the files of a patch. One that is
// moved goes away from where it was. A patch that cannot be read changes nothing.
func (t *applyPatch) Assess(_ context.Context, args json.RawMessage) Risk {
	var in struct {
		Patch string `json:"patch"`
	}
	if decode(args, &in) != nil {
		return Risk{}
	}
	files, err := parsePatch(in.Patch)
	if err != nil {
		return Risk{}
	}
	var changed, removed []string
	for _, f := range files {
		if changed = append(changed, f.path); f.kind == deleteFile || f.moveTo != "" {
			removed = append(removed, f.path)
		}
		if f.moveTo != "" {
			changed = append(changed, f.moveTo)
		}
	}
	return riskOfChange(changed, removed)
}
