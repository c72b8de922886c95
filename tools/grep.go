package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/internal/search"
	"github.com/belljar/belljar/internal/workspace"
)

// Bounds of one call of grep.
const (
	// GrepMatches is the number of matches, or of files where no lines are
	// shown, unless limit says otherwise; MaxGrepMatches is the largest.
	GrepMatches    = 100
	MaxGrepMatches = 1000
	// GrepFileMatches is the number of matches that one file of a folder may
	// take.
	GrepFileMatches = 50
	// GrepContext is the largest number of lines around a match.
	GrepContext = 20
	// GrepBytes bounds the lines of one answer, GrepLineBytes one line. GrepBytes
	// bounds the names of glob, too.
	GrepBytes     = 30 << 10
	GrepLineBytes = 400
)

type grep struct {
	workspace *workspace.Workspace
	def       Definition
}

var _ Tool = (*grep)(nil)

// NewGrep makes the grep tool over a workspace, which the caller closes.
func NewGrep(w *workspace.Workspace) Tool {
	schema := object(1,
		field{"pattern", "string", "A regular expression in RE2 syntax."},
		field{"path", "string", "The folder or file to search; default: the workspace."},
		field{"glob", "string", "Search only files that match, such as *.go or src/**/*.{ts,tsx}; with ! before it only others."},
		field{"mode", "string", "content (the lines, the default), files (the files that match), or count (how many lines match in each)."},
		field{"context", "integer", fmt.Sprintf("How many lines to show before and after each match; largest %d.", GrepContext)},
		field{"ignore_case", "boolean", "Take small and capital letters for the same."},
		field{"literal", "boolean", "Take every character of the pattern as itself."},
		field{"multiline", "boolean", "Let a match span lines; a dot matches newlines, too."},
		field{"ignored", "boolean", "Also search what .gitignore and .ignore files leave out."},
		field{"limit", "integer", fmt.Sprintf("How many matches (or files) to show; default %d, largest %d.", GrepMatches, MaxGrepMatches)},
	)
	schema.Properties["mode"].Enum = []any{"content", "files", "count"}
	return &grep{workspace: w, def: Definition{
		Name: "grep",
		Description: describe("grep", map[string]any{
			"Mount": places(w, false), "Matches": GrepMatches, "FileMatches": GrepFileMatches,
			"LineBytes": output.Count(GrepLineBytes, "byte"), "Form": spellForm,
		}),
		Schema: schema,
		Effect: Read,
	}}
}

func (t *grep) Definition() Definition { return t.def }

// grepArguments are those of one call.
type grepArguments struct {
	Pattern    string  `json:"pattern"`
	Path       string  `json:"path"`
	Glob       string  `json:"glob"`
	Mode       string  `json:"mode"`
	Context    float64 `json:"context"`
	IgnoreCase bool    `json:"ignore_case"`
	Literal    bool    `json:"literal"`
	Multiline  bool    `json:"multiline"`
	Ignored    bool    `json:"ignored"`
	Limit      float64 `json:"limit"`
}

func (t *grep) Execute(ctx context.Context, args json.RawMessage) (Result, error) {
	var in grepArguments
	if err := decode(args, &in); err != nil {
		return Error(err.Error()), nil
	}
	pattern, err := search.NewPattern(expression(in.Pattern, in.Literal), search.PatternOptions{
		IgnoreCase: in.IgnoreCase, Multiline: in.Multiline,
	})
	if err != nil {
		return Error(err.Error()), nil
	}
	in.Path, in.Glob = named(t.workspace, in.Path), namedAll(in.Glob)
	limit, note := bounded(in.Limit, GrepMatches, MaxGrepMatches)
	opts := search.GrepOptions{
		Path: in.Path, Glob: in.Glob, Pattern: pattern, Ignored: in.Ignored,
		Mode:    map[string]search.Mode{"files": search.Names, "count": search.Counts}[in.Mode],
		Context: int(min(max(in.Context, 0), GrepContext)),
		Limit:   limit, FileLimit: min(limit, GrepFileMatches), Bytes: GrepBytes, LineBytes: GrepLineBytes,
	}
	within, cancel := timed(ctx)
	defer cancel()
	found, err := search.Grep(within, t.workspace, opts)
	if err != nil {
		return searchFailure(ctx, t.workspace, in.Path, err)
	}
	if ctx.Err() != nil {
		return canceled(), nil
	}
	r := grepReport{found: found, opts: opts, multiline: in.Multiline}
	if note != "" {
		r.notes = append(r.notes, note)
	}
	return r.result(in.Path), nil
}

// spellings is how bytes in a row are spelled that cannot be shown.
var spellings = regexp.MustCompile("(?:" + spellOpen + "[0-9a-fA-F]{2}" + spellClose + ")+")

// expression makes the regular expression that a call means. Bytes that are
// spelled as read_file spells them are the characters that they make; one that is
// not UTF-8 is any such byte, which is as near as expressions over characters come.
func expression(pattern string, literal bool) string {
	if literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	return spellings.ReplaceAllStringFunc(pattern, func(spelled string) string {
		var chars strings.Builder
		for _, r := range unspell(spelled) { // U+FFFD for what is not UTF-8
			fmt.Fprintf(&chars, `\x{%x}`, r)
		}
		return chars.String()
	})
}

// A grepReport words what was found.
type grepReport struct {
	found     search.Matches
	opts      search.GrepOptions
	multiline bool

	b       strings.Builder
	clipped int
	long    int64
	spelled bool
	full    bool // it holds as much as an answer may: the rest is left out
	notes   []string
}

func (r *grepReport) result(path string) Result {
	if r.found.File && r.found.Binary > 0 {
		return Error(fmt.Sprintf("%q is a binary file, and only text is searched; use bash with grep -a or strings", path))
	}
	for i, f := range r.found.Files {
		if i > 0 && r.b.Len() > GrepBytes {
			r.full = true
			break
		}
		if r.opts.Mode == search.Content {
			if i > 0 {
				r.b.WriteByte('\n')
			}
			r.content(f)
			continue
		}
		line := visiblePath(f.Path)
		if r.opts.Mode == search.Counts {
			line += fmt.Sprintf(": %d", f.Total)
		}
		if i > 0 && r.b.Len()+len(line) > GrepBytes {
			r.full = true
			break
		}
		r.b.WriteString(line + "\n")
	}
	r.summary()
	return noted(r.b.String(), append(r.notes, leftOut(r.found.Walked, r.found.TotalFiles == 0)...))
}

// matches counts matches in the word for them.
func (r *grepReport) matches(n int64) string {
	if r.multiline {
		return output.Count(n, "occurrence")
	}
	return output.Count(n, "matching line")
}

// content shows the lines of one file.
func (r *grepReport) content(f search.FileMatch) {
	r.b.WriteString(visiblePath(f.Path) + "\n")
	for i, line := range f.Lines {
		if i > 0 && r.opts.Context > 0 && line.Number > f.Lines[i-1].Number+1 {
			r.b.WriteString("--\n")
		}
		mark := "-"
		if line.Match {
			mark = ":"
		}
		text := visible(string(line.Text))
		if i > 0 && r.b.Len()+len(text) > GrepBytes {
			r.full = true
			r.b.WriteString("[the rest of what was found in this file is left out]\n")
			return
		}
		r.spelled = r.spelled || len(text) != len(line.Text)
		fmt.Fprintf(&r.b, "%d%s", line.Number, mark)
		if line.Before > 0 {
			fmt.Fprintf(&r.b, "%s%d bytes before …%s", spellOpen, line.Before, spellClose)
		}
		r.b.WriteString(text)
		if line.After > 0 {
			fmt.Fprintf(&r.b, "%s… %d more bytes in this line%s", spellOpen, line.After, spellClose)
		}
		if line.Before > 0 || line.After > 0 {
			r.clipped++
		}
		r.b.WriteByte('\n')
	}
	r.long += f.Long
	if f.Total > f.Shown {
		more := "; give it as path for more"
		if r.found.File {
			more = ""
		}
		fmt.Fprintf(&r.b, "[%d of %s in this file are shown%s]\n", f.Shown, r.matches(f.Total), more)
	}
}

// summary adds what is said of the whole answer.
func (r *grepReport) summary() {
	f := r.found
	if f.TotalFiles == 0 {
		fmt.Fprintf(&r.b, "nothing matches in %s (%s searched)\n", placeName(f.In), output.Count(f.Searched, "file"))
	}
	if r.opts.Mode == search.Counts && f.TotalFiles > 0 {
		r.note("%s in %s", r.matches(f.Total), output.Count(f.TotalFiles, "file"))
	}
	if f.More || r.full {
		what := "more matches exist after these"
		switch {
		case r.opts.Mode != search.Content:
			what = "more files match"
		case f.More:
			what = "more matches exist in files after these"
		}
		hint := fmt.Sprintf("narrow the pattern, path or glob, or raise limit (at most %d)", MaxGrepMatches)
		switch {
		case r.full || f.Full:
			hint = "narrow the pattern, path or glob: an answer holds about " + output.Size(GrepBytes)
		case r.opts.Limit == MaxGrepMatches:
			hint = "narrow the pattern, path or glob"
		}
		r.note("%s: %s", what, hint)
	}
	if r.clipped > 0 {
		r.note("%s clipped around the match; read_file shows more of a line", output.Count(int64(r.clipped), "line"))
	}
	if r.spelled {
		r.note(spelledNote)
	}
	if r.long > 0 {
		r.note("%s cut after %d lines", r.matches(r.long), search.MaxMatchLines)
	}
	if f.TooLarge > 0 {
		r.note("%s too large for multiline; search them without", output.Count(f.TooLarge, "file"))
	}
	if f.Pieced > 0 {
		r.note("in %s lines of more than 2 MiB were searched in pieces: matches across two are missed", output.Count(f.Pieced, "file"))
	}
	if f.Searched == 0 && f.Binary == 0 && r.opts.Glob != "" && !f.File && !f.Stopped {
		r.note("no file there matches the glob, which is relative to path or to the workspace")
	}
	if f.TotalFiles == 0 && f.Binary > 0 {
		r.note("%s passed over", output.Count(f.Binary, "binary file"))
	}
}

func (r *grepReport) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}
