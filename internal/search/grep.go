package search

import (
	"context"
	"path"
	"strings"

	"github.com/belljar/belljar/internal/workspace"
)

// A Mode says what Grep gives of a file that matches.
type Mode int

// The modes of Grep.
const (
	Content Mode = iota // the lines
	Names               // that it matches
	Counts              // how often
)

// GrepOptions say what Grep looks for.
type GrepOptions struct {
	// Path is the file or folder to search, "" for the workspace.
	Path string
	// Glob is the pattern that the paths of files must match, "" for all; with
	// an exclamation mark before it they must not. It is held against a path
	// from Path, from the workspace, and as seen inside the sandbox.
	Glob    string
	Pattern *Pattern
	Mode    Mode
	// Context is how many lines before and after a match are given.
	Context int
	// Limit is the largest number of matches, or of files where the mode gives
	// no lines, and FileLimit that of the matches of one file in a folder.
	Limit, FileLimit int
	// Bytes bounds the text of all lines together, and LineBytes that of one,
	// which is clipped around its match.
	Bytes, LineBytes int
	// Ignored also searches what ignore files leave out.
	Ignored bool
}

// A Line is one line of a file, or the part of it around its match.
type Line struct {
	Number int64
	Text   []byte // without its end
	Match  bool
	// Before and After are how many bytes were clipped.
	Before, After int64
}

// A FileMatch is a file that matches.
type FileMatch struct {
	// Path is relative to the workspace, or absolute in another mounted folder.
	Path string
	// Lines are the matches up to the limits, with their context.
	Lines []Line
	// Shown is how many matches Lines holds, and Total how many there are:
	// where the pattern is Multiline matches, and lines that match otherwise.
	// With Names they are not counted.
	Shown, Total int64
	// Long counts the matches of more than MaxMatchLines lines, of which the
	// rest is left out.
	Long int64

	bytes int   // of the lines
	ends  []int // how many lines there are with each match that is shown
}

// Matches is what Grep has found.
type Matches struct {
	// Files are those that match, in the order of their paths.
	Files []FileMatch
	// More tells that there are further matches in files that are not given.
	More bool
	// Full is set with More when it was Bytes that ended the list, not Limit.
	Full bool
	// TotalFiles and Total count the files that match and their matches; only
	// with Counts all of them.
	TotalFiles, Total int64
	// Searched counts the files that were searched, Binary those passed over
	// because they hold no text, and TooLarge those that are too large for a
	// pattern that is Multiline.
	Searched, Binary, TooLarge int64
	// Pieced counts files with lines of more than 2 MiB, which were searched in
	// pieces: a match across two is not seen, and one line may count as several.
	Pieced int64
	// In is the folder or file that was searched, and File tells which it is.
	In   string
	File bool
	Walked
}

// Grep searches the files of a workspace. A glob that is malformed is a
// [PatternError], a path that cannot be used a [workspace.Refusal]. When the
// context is done it gives what it has found until then, and says so.
func Grep(ctx context.Context, w *workspace.Workspace, opts GrepOptions) (Matches, error) {
	filter, err := newFilter(opts.Glob, w.Mount())
	if err != nil {
		return Matches{}, &PatternError{err}
	}
	if opts.Path == "" {
		opts.Path = "."
	}
	info, err := w.Stat(opts.Path)
	if err != nil {
		return Matches{}, err
	}
	if !info.IsDir() {
		return grepFile(ctx, w, opts)
	}
	from, err := w.OpenFolder(opts.Path)
	if err != nil {
		return Matches{}, err
	}
	c := newCollector(opts)
	prefix := shownPrefix(from)
	searchers := make([]*searcher, workers())
	visitors := make([]visitor, len(searchers))
	for i := range searchers {
		searchers[i] = &searcher{scan: newScanner(ctx, opts), collector: c, filter: filter, prefix: prefix}
		visitors[i] = searchers[i]
	}
	m := Matches{In: from.Name}
	m.Walked = run(ctx, w, from, options{ignored: opts.Ignored, ordered: true}, visitors)
	for _, s := range searchers {
		m.add(s.scan)
		m.Unreadable += s.unreadable
		m.Starved += s.starved
	}
	c.finish(&m)
	return m, nil
}

// add sums up what a scanner has counted.
func (m *Matches) add(s *scanner) {
	m.Searched += s.searched
	m.Binary += s.binary
	m.TooLarge += s.tooLarge
	m.Pieced += s.pieced
}

// grepFile searches the one file that was named.
func grepFile(ctx context.Context, w *workspace.Workspace, opts GrepOptions) (Matches, error) {
	f, err := w.Open(opts.Path)
	if err != nil {
		return Matches{}, err
	}
	defer f.Close()
	opts.FileLimit = opts.Limit
	m := Matches{In: f.Name, File: true}
	if f.Info.IsDir() {
		return m, nil // it was a file a moment ago
	}
	s, c := newScanner(ctx, opts), newCollector(opts)
	found, err := s.file(f, f.Info.Size())
	if err != nil && ctx.Err() == nil {
		m.Unreadable++
	}
	if found.Total > 0 {
		found.Path = f.Name
		c.take(found)
	}
	m.add(s)
	c.finish(&m)
	m.Stopped = ctx.Err() != nil
	return m, nil
}

// A filter chooses files by their paths.
type filter struct {
	glob     Glob
	any, not bool
	mount    string // the workspace's mount point
}

func newFilter(pattern, mount string) (filter, error) {
	if pattern == "" {
		return filter{any: true}, nil
	}
	f := filter{mount: mount}
	pattern, f.not = strings.CutPrefix(pattern, "!")
	var err error
	f.glob, err = NewGlob(pattern)
	return f, err
}

// match holds a path from the start against the filter. prefix makes it one that
// is shown.
func (f filter) match(prefix, name string) bool {
	if f.any {
		return true
	}
	matches := f.glob.Match(name)
	if !matches && !f.glob.base {
		shown := prefix + name
		inside := shown
		if !path.IsAbs(shown) {
			inside = f.mount + "/" + shown
		}
		matches = f.glob.Match(shown) || f.glob.Match(strings.TrimPrefix(inside, "/"))
	}
	return matches != f.not
}

// A searcher is the visitor of one worker.
type searcher struct {
	scan      *scanner
	collector *collector
	filter    filter
	prefix    string

	unreadable, starved int64
}

func (s *searcher) skip(name string) bool { return s.collector.beyond(path.Join(s.prefix, name)) }

func (s *searcher) visit(at *node, name string, e workspace.Entry) {
	if e.Kind != workspace.KindFile || !s.filter.match(s.prefix, name) {
		return
	}
	shown := s.prefix + name
	if s.collector.beyond(shown) {
		return
	}
	f, err := at.folder.File(e.Name)
	if err != nil {
		s.failed(err)
		return
	}
	defer f.Close()
	found, err := s.scan.file(f, f.Size())
	if err != nil {
		s.unreadable++
	}
	if found.Total > 0 {
		found.Path = shown
		s.collector.take(found)
	}
}

// failed counts a file that could not be opened.
func (s *searcher) failed(err error) {
	switch {
	case changed(err):
	case starved(err):
		s.starved++
	default:
		s.unreadable++
	}
}
