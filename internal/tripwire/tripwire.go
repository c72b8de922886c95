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
	"path"
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

// defaults are the bounds with what was left out.
func (o Options) defaults() Options {
	if o.Entries == 0 {
		o.Entries = 1_000_000
	}
	if o.Time == 0 {
		o.Time = 5 * time.Second
	}
	return o
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
	// Obeyed is a file that is obeyed since configuration that names it, or
	// what makes its folder a repository or environment, is new or changed.
	// The file may have been there before.
	Obeyed Kind = "obeyed"
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
	// Repository is the folder of the nearest repository around the file that
	// was there before, relative as Path; "" for none.
	Repository string `json:"-"`
}

// A Report is what changed: what git obeys first, then the rest, each in the
// order of paths, the least deep first. Gaps says, a line each, what was not
// looked at, before or after; of what lies there nothing is reported, since it
// may have been like that all along.
type Report struct {
	Changes []Change
	Gaps    []string
}

// Set remembers the watched files of the folder at the host path dir.
func Set(dir string, opts Options) (*Wire, error) {
	w := &Wire{dir: dir, opts: opts.defaults()}
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
	for name, old := range w.before.files {
		now, there := after.files[name]
		kind := Removed
		switch {
		case old.quiet && (!there || now.quiet), !there && after.unsure(name):
			continue
		case there:
			kind = old.compare(now)
		}
		if kind != "" {
			report.Changes = append(report.Changes, Change{Path: name, Kind: kind, What: old.what, Was: old.mode, Original: old.kept})
		}
	}
	for name, now := range after.files {
		if kind := w.before.appeared(name, now); kind != "" {
			report.Changes = append(report.Changes, Change{Path: name, Kind: kind, What: now.what})
		}
	}
	for i, change := range report.Changes {
		report.Changes[i].Repository = w.before.repositoryOf(change.Path)
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

// appeared tells what a file is that only a later walk found, "" for nothing
// that can be said.
func (k *walk) appeared(name string, now state) Kind {
	_, there := k.files[name]
	switch {
	case there, now.quiet, k.unsure(name), now.via != "" && k.unsure(now.via):
		return ""
	case now.via != "" && !k.wasNamed(name) && k.folders[path.Dir(name)]:
		return Obeyed
	default:
		return Added
	}
}

// wasNamed tells whether configuration named a file, or a folder that it is in.
func (k *walk) wasNamed(name string) bool {
	for ; name != "."; name = path.Dir(name) {
		if k.named[name] {
			return true
		}
	}
	return k.named["."]
}

// look walks the folder. What was seen earlier is looked at in any case, and so
// is what would stand under a fixed name, so that a folder filled with names
// hides neither.
func (w *Wire) look(earlier *walk) (*walk, error) {
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return nil, fmt.Errorf("looking for files that the host obeys: %w", err)
	}
	defer root.Close()
	k := &walk{
		root: root, dir: w.dir, bound: w.opts, left: w.opts.Entries, files: map[string]state{}, unseen: unseen{},
		named: map[string]bool{}, folders: map[string]bool{}, repositories: map[string]bool{}, tops: map[string]bool{},
		read: map[string]bool{}, looked: map[string]bool{},
	}
	var known map[string]bool
	if earlier != nil {
		known = earlier.repositories
		for name, old := range earlier.files {
			k.file(name, old.what)
		}
	}
	k.first(known)
	k.end = time.Now().Add(w.opts.Time)
	k.all()
	return k, nil
}

// compare tells what happened to a file, "" for nothing.
func (s state) compare(now state) Kind {
	switch {
	case s.mode.Type() != now.mode.Type():
		return Replaced
	case s.target != now.target, !s.same(now):
		return Changed
	case s.mode != now.mode:
		return Mode
	default:
		return ""
	}
}

// same tells whether the content is the same, as far as it was read both times.
func (s state) same(now state) bool {
	if s.unread != now.unread {
		return bytes.Equal(s.stamp, now.stamp)
	}
	return bytes.Equal(s.sum, now.sum)
}
