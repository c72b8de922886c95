package workspace

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// A Folder is an open folder of the workspace, for walking a tree: each folder
// below it is opened once, by its name in the one above, so the depth of a tree
// costs nothing. No link is followed and nothing outside can be reached,
// whatever is swapped meanwhile. It is safe for concurrent use but for Close.
type Folder struct {
	// Name is the path relative to the workspace with every link resolved, "."
	// for the workspace itself; in another mounted folder it is absolute.
	Name string
	// Linked is set when a link was followed on the way to it.
	Linked bool
	// Above are the names of the folders above it, from the mounted one down,
	// ready for Open; the mounted one comes first, and there is none above that.
	Above []string

	dir directory
}

// A Kind is what an entry of a folder is.
type Kind byte

// The kinds of entries.
const (
	KindFile    Kind = iota // a regular file
	KindFolder              // a folder
	KindLink                // a symbolic link, to anything
	KindSpecial             // a FIFO, a socket or a device
)

// An Entry is one name in a folder.
type Entry struct {
	Name string
	Kind Kind
}

// A Content is an open regular file. The caller closes it.
type Content interface {
	io.ReadCloser
	// Size is what the handle told when it was opened, in bytes.
	Size() int64
}

// A directory does what a Folder does, in the way of the system.
type directory interface {
	entries(most int) (list []Entry, all bool, err error)
	folder(name string) (directory, error)
	file(name string) (Content, error)
	modified(name string) (time.Time, error)
	readlink(name string) (string, error)
	close() error
}

// OpenFolder opens a folder by a path, which is resolved as Open does. What is
// not a folder is a [Refusal] that wraps [ErrFileType]. The caller closes it.
func (w *Workspace) OpenFolder(name string) (*Folder, error) {
	p, err := w.resolve(name, toRead)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if p.info == nil {
		return nil, p.missing(name)
	}
	if !p.info.IsDir() {
		return nil, refuse(name, ErrFileType, "is %s, not a folder", typeName(p.info.Mode()))
	}
	root, err := p.dir.OpenRoot(p.base + "/.")
	if err != nil {
		return nil, failure(name, "opening", err)
	}
	info, err := root.Stat(".")
	if err == nil && !os.SameFile(info, p.info) {
		err = refuse(name, ErrChanged, "was replaced while it was opened: try again")
	}
	var dir directory
	if err == nil {
		dir, err = openDirectory(root)
	}
	if err != nil {
		root.Close()
		return nil, failure(name, "opening", err)
	}
	return &Folder{Name: p.name(), Linked: p.linked, Above: p.above(), dir: dir}, nil
}

// above are the folders above a place.
func (p *place) above() []string {
	if p.base == "." && len(p.parent) == 0 {
		return nil
	}
	names := p.parent
	if p.base == "." {
		names = names[:len(names)-1]
	}
	above := []string{p.in.path}
	for i := range names {
		above = append(above, path.Join(p.in.path, path.Join(names[:i+1]...)))
	}
	return above
}

// Entries reads the names in the folder, in no order, and tells whether that
// is all of them: it stops after most.
func (f *Folder) Entries(most int) (list []Entry, all bool, err error) { return f.dir.entries(most) }

// Folder opens a folder in this one. A link is an error.
func (f *Folder) Folder(name string) (*Folder, error) {
	if err := single(name); err != nil {
		return nil, err
	}
	dir, err := f.dir.folder(name)
	if err != nil {
		return nil, err
	}
	return &Folder{Name: path.Join(f.Name, name), Linked: f.Linked, dir: dir}, nil
}

// File opens a regular file in the folder for reading, without waiting for
// anything. A link is an error, and so is everything that is not a regular
// file.
func (f *Folder) File(name string) (Content, error) {
	if err := single(name); err != nil {
		return nil, err
	}
	return f.dir.file(name)
}

// single refuses what is not one name in a folder: of a path only the last
// name would be kept from being a link.
func single(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") || !filepath.IsLocal(name) {
		return fmt.Errorf("%q is not one name: %w", name, fs.ErrInvalid)
	}
	return nil
}

// Modified tells when a file in the folder was changed last. A link is not
// followed.
func (f *Folder) Modified(name string) (time.Time, error) { return f.dir.modified(name) }

// Readlink tells what a link in the folder says, which may be anything.
func (f *Folder) Readlink(name string) (string, error) { return f.dir.readlink(name) }

// Close releases the folder.
func (f *Folder) Close() error { return f.dir.close() }

// kindOf is the kind of a mode.
func kindOf(mode fs.FileMode) Kind {
	switch {
	case mode.IsRegular():
		return KindFile
	case mode.IsDir():
		return KindFolder
	case mode&fs.ModeSymlink != 0:
		return KindLink
	default:
		return KindSpecial
	}
}
