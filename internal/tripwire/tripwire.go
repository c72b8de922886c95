// Package tripwire tells which files of a workspace that programs on the host
// run or obey by themselves were changed while something untrusted worked on
// it: git's hooks and configuration, start-up files of shells and debuggers,
// what editors, continuous integration, package managers and other agents read.
// See rules.go for the list. Files that run only when somebody builds or tests
// (Makefile, package.json, conftest.py) are ordinary work and not on it.
//
// Files are compared by content, mode and, for links, by where they lead. The
// walk follows no link out of the folder, opens nothing that could block, and
// is bounded; what it did not see, it says.
package tripwire

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// Options bound a walk. The zero value is the default.
type Options struct {
	// Entries is the number of names that a walk looks at; 0 is 1,000,000.
	Entries int
	// Time is how long it may take; 0 is 5 s.
	Time time.Duration
}

// A Wire remembers the watched files of a folder. It is not safe for concurrent
// use.
type Wire struct {
	dir    string
	opts   Options
	before *walk
}

// A Kind is what happened to a file.
type Kind string

// The kinds of changes.
const (
	Added    Kind = "added"
	Changed  Kind = "changed" // its content, or where the link leads
	Removed  Kind = "removed"
	Mode     Kind = "mode"     // its permission bits only
	Replaced Kind = "replaced" // by another type of file, such as a link
)

// A Change is one file that is not what it was.
type Change struct {
	// Path is relative to the folder, with slashes. It is as untrusted as the
	// folder's content.
	Path string `json:"path"`
	Kind Kind   `json:"change"`
	// What says what obeys the file.
	What string `json:"what"`
	// Was is the file's type and permission bits before; 0 for one added.
	Was fs.FileMode `json:"-"`
	// Original is the content before, where it was kept: that of regular
	// files up to 256 KiB, 16 MiB in all. nil is not kept.
	Original []byte `json:"-"`
}

// A Report is what changed: what git obeys first, then the rest, each in the
// order of paths, the least deep first. Gaps
// says, a line each, what was not looked at.
type Report struct {
	Changes []Change
	Gaps    []string
}

// Set remembers the watched files of the folder at the host path dir.
func Set(dir string, opts Options) (*Wire, error) {
	if opts.Entries == 0 {
		opts.Entries = 1_000_000
	}
	if opts.Time == 0 {
		opts.Time = 5 * time.Second
	}
	w := &Wire{dir: dir, opts: opts}
	var err error
	w.before, err = w.look(nil)
	return w, err
}

// Check compares the files with what was remembered. It is called once nothing
// untrusted works on the folder any more.
func (w *Wire) Check() (Report, error) {
	after, err := w.look(w.before)
	if err != nil {
		return Report{}, err
	}
	report := Report{Gaps: after.gaps(w.before)}
	for path, old := range w.before.files {
		now, there := after.files[path]
		kind := Removed
		switch {
		case old.quiet && (!there || now.quiet):
			continue
		case there:
			kind = old.compare(now)
		}
		if kind != "" {
			report.Changes = append(report.Changes, Change{Path: path, Kind: kind, What: old.what, Was: old.mode, Original: old.kept})
		}
	}
	for path, now := range after.files {
		if _, there := w.before.files[path]; !there && !now.quiet {
			report.Changes = append(report.Changes, Change{Path: path, Kind: Added, What: now.what})
		}
	}
	slices.SortFunc(report.Changes, func(a, b Change) int {
		if n := a.rank() - b.rank(); n != 0 {
			return n
		}
		if n := strings.Count(a.Path, "/") - strings.Count(b.Path, "/"); n != 0 {
			return n
		}
		return strings.Compare(a.Path, b.Path)
	})
	return report, nil
}

// look walks the folder. What was seen earlier is looked at in any case, so
// that a folder filled with names does not hide that it changed.
func (w *Wire) look(earlier *walk) (*walk, error) {
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return nil, fmt.Errorf("looking for files that the host obeys: %w", err)
	}
	defer root.Close()
	k := &walk{root: root, dir: w.dir, left: w.opts.Entries, files: map[string]state{}}
	if earlier != nil {
		for path, old := range earlier.files {
			k.file(path, old.what)
		}
	}
	k.end = time.Now().Add(w.opts.Time)
	k.all()
	return k, nil
}

// compare tells what happened to a file, "" for nothing.
func (s state) compare(now state) Kind {
	switch {
	case s.mode.Type() != now.mode.Type():
		return Replaced
	case s.target != now.target || !bytes.Equal(s.sum, now.sum):
		return Changed
	case s.mode != now.mode:
		return Mode
	default:
		return ""
	}
}
