package search

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/belljar/belljar/internal/workspace"
)

const (
	// maxGlob is the length of the longest glob pattern in bytes, and maxForms
	// how many patterns its braces may stand for: matching tries them all.
	maxGlob  = 1000
	maxForms = 500
)

// A Glob is a compiled pattern of names.
type Glob struct {
	pattern string // with sets in brackets that no slash is in
	base    bool   // it is held against the last name alone
	folders bool   // it ended in a slash: folders are meant
}

// NewGlob reads a pattern for paths: * and ? do not cross a slash, ** stands
// for any folders, [a-z] and {a,b} for alternatives. One without a slash is for
// names in all folders. The error is in words for who wrote the pattern.
func NewGlob(pattern string) (Glob, error) {
	switch {
	case pattern == "":
		return Glob{}, fmt.Errorf("the pattern is empty: use **/* for all files")
	case len(pattern) > maxGlob:
		return Glob{}, fmt.Errorf("the pattern has more than %d bytes", maxGlob)
	case !doublestar.ValidatePattern(pattern):
		return Glob{}, fmt.Errorf("the pattern %q is malformed: close every [ and {, and put a backslash before one that is meant itself", pattern)
	case max(forms(pattern, true), forms(pattern, false)) > maxForms:
		return Glob{}, fmt.Errorf("the braces of the pattern %q stand for more than %d patterns: use several patterns", pattern, maxForms)
	}
	var g Glob
	g.pattern, g.folders = strings.CutSuffix(pattern, "/")
	g.base = !strings.Contains(g.pattern, "/")
	g.compile(strings.TrimPrefix(path.Clean("/"+g.pattern), "/"))
	return g, nil
}

// compile takes a valid pattern as the one to match.
func (g *Glob) compile(pattern string) {
	g.pattern = withoutSlash(pattern)
	if !g.folders {
		g.pattern = inside(g.pattern)
	}
}

// inside makes a pattern for files that ends in folders of any depth, or has an
// alternative that does, one for what is in them: a/** would match a itself,
// too, and what is no folder holds nothing.
func inside(pattern string) string {
	const folders = "/**"
	var b strings.Builder
	open := 0
	for i := 0; i < len(pattern); i++ {
		b.WriteByte(pattern[i])
		switch pattern[i] {
		case '\\':
			if i++; i < len(pattern) {
				b.WriteByte(pattern[i])
			}
		case '{':
			open++
		case '}':
			open--
		case '*':
			end := i+1 == len(pattern) || open > 0 && strings.IndexByte(",}", pattern[i+1]) >= 0
			if end && strings.HasSuffix(pattern[:i+1], folders) {
				b.WriteString("/*")
			}
		}
	}
	return b.String()
}

// forms is how many patterns without braces a valid pattern stands for, as far
// as that is not far too many. classes tells that braces in brackets are none,
// which the matching within other braces does not see in every case.
func forms(pattern string, classes bool) int {
	type group struct{ before, product int } // alternatives that are over, and the one under way
	open := []group{{0, 1}}
	for i, class := 0, false; i < len(pattern); i++ {
		last := &open[len(open)-1]
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = classes
		case c == '{':
			open = append(open, group{0, 1})
		case c == ',' && len(open) > 1:
			*last = group{last.before + last.product, 1}
		case c == '}' && len(open) > 1:
			of := last.before + last.product
			open = open[:len(open)-1]
			last = &open[len(open)-1]
			last.product = min(last.product*of, 2*maxForms)
		}
	}
	return open[0].product
}

// Match holds a path with slashes against the pattern.
func (g Glob) Match(name string) bool {
	if g.base {
		name = name[strings.LastIndexByte(name, '/')+1:]
	}
	return doublestar.MatchUnvalidated(g.pattern, name)
}

// GlobOptions say what Find looks for.
type GlobOptions struct {
	// Path is the folder to begin in, "" for the workspace. Pattern is
	// relative to it, or absolute as seen inside the sandbox.
	Path, Pattern string
	// Ignored also finds what ignore files leave out.
	Ignored bool
	// Limit is the largest number of results.
	Limit int
}

// A Found is one result of Find.
type Found struct {
	// Path is relative to the workspace, or absolute in another mounted folder.
	Path string
	Kind workspace.Kind
	// Target is what a link says.
	Target string
	// Modified is when it was changed last.
	Modified time.Time
}

// A Listing is what Find has found.
type Listing struct {
	// Found are the newest, the newest first; of one time in the order of
	// their paths.
	Found []Found
	// Total is how many there are.
	Total int64
	// In is the folder that was walked.
	In string
	Walked
}

// Find lists the files and links of a workspace, or its folders, whose paths
// match a pattern. A pattern that is malformed is a [PatternError], a path that
// cannot be used a [workspace.Refusal].
func Find(ctx context.Context, w *workspace.Workspace, opts GlobOptions) (Listing, error) {
	start, glob, err := split(opts.Path, opts.Pattern)
	if err != nil {
		return Listing{}, err
	}
	from, err := w.OpenFolder(start)
	if err != nil {
		return Listing{}, err
	}
	shown := shownPrefix(from)
	finders := make([]*finder, workers())
	visitors := make([]visitor, len(finders))
	for i := range finders {
		finders[i] = &finder{glob: glob, limit: opts.Limit}
		visitors[i] = finders[i]
	}
	l := Listing{In: from.Name}
	l.Walked = run(ctx, w, from, options{ignored: opts.Ignored, folders: glob.folders}, visitors)
	for _, f := range finders {
		l.Found = append(l.Found, f.found...)
		l.Total += f.total
	}
	l.Found = newest(l.Found, opts.Limit)
	for i := range l.Found {
		l.Found[i].Path = shown + l.Found[i].Path
	}
	return l, nil
}

// A PatternError says what is wrong with a pattern, in words for who wrote it.
type PatternError struct{ Err error }

// Error is one line.
func (e *PatternError) Error() string { return e.Err.Error() }

// Unwrap gives the error itself.
func (e *PatternError) Unwrap() error { return e.Err }

// split finds the folder that a pattern is about: what it names without a mark
// of a pattern is opened like any path, so it may also be one that ignore files
// leave out, or lie behind a link.
func split(dir, pattern string) (start string, glob Glob, err error) {
	glob, err = NewGlob(pattern)
	if err != nil {
		return "", Glob{}, &PatternError{err}
	}
	if dir == "" {
		dir = "."
	}
	trimmed := strings.TrimSuffix(pattern, "/")
	if glob.base {
		return dir, glob, nil
	}
	base, rest := doublestar.SplitPattern(trimmed)
	if path.IsAbs(base) {
		if dir != "." && !under(pattern, path.Clean(dir)) {
			return "", Glob{}, &PatternError{fmt.Errorf("the pattern %q is absolute and not below path %q: leave path out", pattern, dir)}
		}
		dir = base
	} else if dir == "." {
		dir = base
	} else if base != "." {
		dir += "/" + base
	}
	glob.compile(rest)
	return dir, glob, nil
}

// shownPrefix goes before paths from a folder on, to make them ones that other
// tools take.
func shownPrefix(from *workspace.Folder) string {
	if from.Name == "." {
		return ""
	}
	return from.Name + "/"
}

// A finder is the visitor of one worker.
type finder struct {
	glob  Glob
	limit int
	found []Found
	total int64
}

func (f *finder) skip(string) bool { return false }

func (f *finder) visit(at *node, path string, e workspace.Entry) {
	if f.glob.folders != (e.Kind == workspace.KindFolder) || !f.glob.Match(path) {
		return
	}
	modified, err := at.folder.Modified(e.Name)
	if err != nil {
		return // it is gone
	}
	found := Found{Path: path, Kind: e.Kind, Modified: modified}
	if e.Kind == workspace.KindLink {
		if found.Target, err = at.folder.Readlink(e.Name); err != nil {
			return
		}
	}
	f.total++
	if f.found = append(f.found, found); len(f.found) >= 4*f.limit+64 {
		f.found = newest(f.found, f.limit)
	}
}

// newest keeps the newest.
func newest(found []Found, limit int) []Found {
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(b.Modified.Compare(a.Modified), comparePaths(a.Path, b.Path))
	})
	return found[:min(len(found), limit)]
}
