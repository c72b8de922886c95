// Package diskusage measures what a folder takes on disk, by its files and by
// the file system that it is on. It follows no link and enters no other file
// system, since an untrusted process may change the folder at any moment.
package diskusage

import (
	"cmp"
	"errors"
	"slices"
	"time"
)

// ErrUnsupported says that this system does not tell.
var ErrUnsupported = errors.New("disk usage cannot be measured on this system")

// maxLargest bounds the list of a Usage.
const maxLargest = 3

// single is the size from which on a file is listed by itself; smaller ones
// are added up by folder. In bytes.
const single = 1 << 20

// A Usage is what a folder takes on disk, in bytes of whole blocks. A file
// with several names counts once.
type Usage struct {
	// Total is everything, and Fresh what was changed since a time.
	Total, Fresh int64
	// Files counts files, folders and whatever else has a name, and FreshFiles
	// those that were changed since.
	Files, FreshFiles int64
	// Hidden counts folders that were changed since and cannot be read.
	Hidden int
	// Largest are the largest of what was changed, the largest first, and
	// Fullest the folders in which most was changed.
	Largest []Entry
	Fullest []Folder
}

// An Entry is a file, or the small files of one folder together. Path is
// relative to what was measured, "." for the folder itself, with slashes.
type Entry struct {
	Path  string
	Bytes int64
}

// A Folder is how many files are in one folder, those below others not counted.
type Folder struct {
	Path  string
	Files int64
}

// A tally is a Usage under way.
type tally struct {
	usage Usage
	since time.Time
	sums  map[string]int64 // of what was changed, by path
	full  map[string]int64 // how much was changed in a folder
}

// add counts one file in a folder.
func (t *tally) add(folder, name string, bytes int64, changed time.Time) {
	t.usage.Total += bytes
	t.usage.Files++
	if changed.Before(t.since) {
		return
	}
	t.usage.Fresh += bytes
	t.usage.FreshFiles++
	t.full[folder]++
	key := folder
	if bytes >= single {
		key = join(folder, name)
	}
	t.sums[key] += bytes
}

func join(folder, name string) string {
	if folder == "." {
		return name
	}
	return folder + "/" + name
}

// end returns the sums.
func (t *tally) end() Usage {
	for path, bytes := range t.sums {
		t.usage.Largest = append(t.usage.Largest, Entry{path, bytes})
	}
	slices.SortFunc(t.usage.Largest, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Path, b.Path))
	})
	t.usage.Largest = t.usage.Largest[:min(len(t.usage.Largest), maxLargest)]
	for path, files := range t.full {
		t.usage.Fullest = append(t.usage.Fullest, Folder{path, files})
	}
	slices.SortFunc(t.usage.Fullest, func(a, b Folder) int {
		return cmp.Or(cmp.Compare(b.Files, a.Files), cmp.Compare(a.Path, b.Path))
	})
	t.usage.Fullest = t.usage.Fullest[:min(len(t.usage.Fullest), maxLargest)]
	return t.usage
}
