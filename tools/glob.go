package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/internal/search"
	"github.com/belljar/belljar/internal/workspace"
)

// Bounds of the files that one call of glob names.
const (
	GlobFiles    = 100
	MaxGlobFiles = 1000
)

type glob struct {
	workspace *workspace.Workspace
	def       Definition
}

var _ Tool = (*glob)(nil)

// NewGlob makes the glob tool over a workspace, which the caller closes.
func NewGlob(w *workspace.Workspace) Tool {
	return &glob{workspace: w, def: Definition{
		Name: "glob",
		Description: describe("glob", map[string]any{
			"Mount": places(w, false), "Files": GlobFiles, "Most": MaxGlobFiles,
		}),
		Schema: object(1,
			field{"pattern", "string", "Such as **/*.go, src/**/*_test.{js,ts} or Makefile; one that ends in / finds folders."},
			field{"path", "string", "The folder to search and that the pattern is relative to; default: the workspace."},
			field{"limit", "integer", fmt.Sprintf("How many to name; default %d, largest %d.", GlobFiles, MaxGlobFiles)},
			field{"ignored", "boolean", "Also find what .gitignore and .ignore files leave out."},
		),
		Effect: Read,
	}}
}

func (t *glob) Definition() Definition { return t.def }

func (t *glob) Execute(ctx context.Context, args json.RawMessage) (Result, error) {
	var in struct {
		Pattern string  `json:"pattern"`
		Path    string  `json:"path"`
		Limit   float64 `json:"limit"`
		Ignored bool    `json:"ignored"`
	}
	if err := decode(args, &in); err != nil {
		return Error(err.Error()), nil
	}
	limit, note := bounded(in.Limit, GlobFiles, MaxGlobFiles)
	within, cancel := timed(ctx)
	defer cancel()
	in.Path = named(t.workspace, in.Path)
	found, err := search.Find(within, t.workspace, search.GlobOptions{
		Path: in.Path, Pattern: namedAll(in.Pattern), Ignored: in.Ignored, Limit: limit,
	})
	if err != nil {
		return searchFailure(ctx, t.workspace, in.Path, err)
	}
	if ctx.Err() != nil {
		return canceled(), nil
	}
	return globResult(found, strings.HasSuffix(in.Pattern, "/"), note), nil
}

// globResult words what was found.
func globResult(found search.Listing, folders bool, note string) Result {
	noun := "file"
	if folders {
		noun = "folder"
	}
	var b strings.Builder
	shown := int64(0)
	for _, f := range found.Found {
		line := visiblePath(f.Path)
		switch f.Kind {
		case workspace.KindFolder:
			line += "/"
		case workspace.KindLink:
			line += " -> " + visibleName(f.Target)
		}
		if shown > 0 && b.Len()+len(line) > GrepBytes {
			break
		}
		b.WriteString(line + "\n")
		shown++
	}
	var notes []string
	if found.Total == 0 {
		fmt.Fprintf(&b, "no %s matches in %s\n", noun, placeName(found.In))
	}
	if more := found.Total - shown; more > 0 {
		hint := fmt.Sprintf("narrow the pattern or raise limit (at most %d)", MaxGlobFiles)
		if shown < int64(len(found.Found)) || shown == MaxGlobFiles {
			hint = "narrow the pattern"
		}
		notes = append(notes, fmt.Sprintf("these are the newest; %s more exist: %s", output.Count(more, noun), hint))
	}
	if note != "" {
		notes = append(notes, note)
	}
	return noted(b.String(), append(notes, leftOut(found.Walked, found.Total == 0)...))
}

// placeName names a folder or file in a sentence.
func placeName(name string) string {
	if name == "." {
		return "the workspace"
	}
	return visibleName(name)
}
