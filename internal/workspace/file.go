package workspace

import (
	"io/fs"
	"os"
	"strconv"
)

// A File is an open regular file or folder of the workspace.
type File struct {
	*os.File
	// Info was read from the open handle.
	Info fs.FileInfo
	// Name is the path relative to the workspace with every link resolved.
	Name string
	// Linked is set when a link was followed, so Name differs from what was
	// asked for.
	Linked bool
}

// Open opens a regular file or a folder for reading. It never blocks: FIFOs,
// sockets and devices are refused by type. What cannot be opened is a
// [Refusal]. The caller closes the file.
func (w *Workspace) Open(name string) (*File, error) {
	p, err := w.resolve(name, toRead)
	if err != nil {
		return nil, err
	}
	defer p.close()
	return p.open(name)
}

// open opens what is at the place. The type is looked at before, because
// opening a device can already do something, and again on the handle, because
// the name may stand for something else by then.
func (p *place) open(name string) (*File, error) {
	if p.info == nil {
		return nil, p.missing(name)
	}
	if err := readable(name, p.info); err != nil {
		return nil, err
	}
	f, err := p.dir.OpenFile(p.base, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, failure(name, "opening", err)
	}
	info, err := f.Stat()
	if err == nil {
		err = readable(name, info)
	}
	if err != nil {
		f.Close()
		return nil, failure(name, "opening", err)
	}
	return &File{File: f, Info: info, Name: p.name(), Linked: p.linked}, nil
}

func (p *place) missing(name string) error {
	if p.linked {
		return refuse(name, fs.ErrNotExist, "it leads through a link to %s, which does not exist", quote(p.name()))
	}
	return refuse(name, fs.ErrNotExist, "does not exist")
}

func readable(name string, info fs.FileInfo) error {
	if info.Mode().IsRegular() || info.IsDir() {
		return nil
	}
	return refuse(name, ErrFileType, "is %s, and only regular files and folders can be read", typeName(info.Mode()))
}

// Stat tells what name leads to, links followed, without opening it.
func (w *Workspace) Stat(name string) (fs.FileInfo, error) {
	p, err := w.resolve(name, toRead)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if p.info == nil {
		return nil, p.missing(name)
	}
	return p.info, nil
}

func quote(name string) string { return strconv.Quote(name) }
