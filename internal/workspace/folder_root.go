package workspace

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// A rootDirectory goes through an os.Root of its own, on every system. That
// keeps everything inside; what it followed a link to is told by identity.
type rootDirectory struct{ root *os.Root }

var _ directory = (*rootDirectory)(nil)

// openRootDirectory takes over root.
func openRootDirectory(root *os.Root) (directory, error) { return &rootDirectory{root}, nil }

func (d *rootDirectory) entries(most int) ([]Entry, bool, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	var list []Entry
	for {
		found, err := f.ReadDir(1000)
		for _, e := range found {
			if len(list) == most {
				return list, false, nil
			}
			list = append(list, Entry{e.Name(), kindOf(e.Type())})
		}
		if err == io.EOF {
			return list, true, nil
		}
		if err != nil {
			return list, false, err
		}
	}
}

func (d *rootDirectory) folder(name string) (directory, error) {
	seen, err := d.look(name, KindFolder)
	if err != nil {
		return nil, err
	}
	root, err := d.root.OpenRoot(name + "/.")
	if err != nil {
		return nil, err
	}
	if now, err := root.Stat("."); err != nil || !os.SameFile(seen, now) {
		root.Close()
		return nil, errSwapped
	}
	return &rootDirectory{root}, nil
}

// look tells what a name is, which must be of the kind.
func (d *rootDirectory) look(name string, kind Kind) (fs.FileInfo, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if kindOf(info.Mode()) != kind {
		return nil, fmt.Errorf("is %s: %w", typeName(info.Mode()), ErrFileType)
	}
	return info, nil
}

func (d *rootDirectory) file(name string) (Content, error) {
	seen, err := d.look(name, KindFile)
	if err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	now, err := f.Stat()
	if err == nil && !os.SameFile(seen, now) {
		err = errSwapped
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &rootFile{f, now.Size()}, nil
}

func (d *rootDirectory) modified(name string) (time.Time, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

func (d *rootDirectory) readlink(name string) (string, error) { return d.root.Readlink(name) }

func (d *rootDirectory) close() error { return d.root.Close() }

type rootFile struct {
	*os.File
	size int64
}

func (f *rootFile) Size() int64 { return f.size }
