package workspace

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/belljar/belljar/sandbox"
)

// Written says what a write did.
type Written struct {
	// Name is the path of the file written, relative to the workspace, with
	// every link resolved.
	Name string
	// Linked is set when a link was followed; the link itself stays.
	Linked bool
	// Created is set when there was no such file.
	Created bool
}

// WriteFile makes or replaces the file that name leads to. Missing folders on
// the way are made. A reader sees the old bytes or the new ones, never a
// mixture. A file that is replaced keeps its permission bits, and its owner
// where the process may set it; set-id bits are dropped, as write(2) drops
// them. What cannot be written is a [Refusal].
func (w *Workspace) WriteFile(name string, data []byte) (Written, error) {
	w.write.Lock()
	defer w.write.Unlock()
	if strings.HasSuffix(name, "/") {
		return Written{}, refuse(name, ErrFileType, "names a folder: give the name of a file")
	}
	p, err := w.resolve(name, toCreate)
	if err != nil {
		return Written{}, err
	}
	defer p.close()
	if err := p.writable(name); err != nil {
		return Written{}, err
	}
	if err := p.replace(w.owner, data, nil); err != nil {
		return Written{}, failure(name, "writing", err)
	}
	return p.written(), nil
}

// UpdateFile replaces the bytes of an existing file by what update makes of
// them, as WriteFile does. A file of more than limit bytes is refused. An error
// of update is returned as it is, and the file is left alone; so it is when the
// file was changed by someone else before the new bytes were in place.
func (w *Workspace) UpdateFile(name string, limit int64, update func(old []byte) ([]byte, error)) (Written, error) {
	w.write.Lock()
	defer w.write.Unlock()
	p, err := w.resolve(name, toUpdate)
	if err != nil {
		return Written{}, err
	}
	defer p.close()
	if err := p.writable(name); err != nil {
		return Written{}, err
	}
	f, err := p.open(name)
	if err != nil {
		return Written{}, err
	}
	defer f.Close()
	if !f.Info.Mode().IsRegular() {
		return Written{}, refuse(name, ErrFileType, "is %s, not a regular file", typeName(f.Info.Mode()))
	}
	old, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return Written{}, failure(name, "reading", err)
	}
	if int64(len(old)) > limit {
		return Written{}, refuse(name, ErrTooLarge, "is larger than %d bytes", limit)
	}
	data, err := update(old)
	if err != nil {
		return Written{}, err
	}
	if err := p.replace(w.owner, data, f.Info); err != nil {
		return Written{}, failure(name, "writing", err)
	}
	return p.written(), nil
}

// writable refuses a place that the sandbox cannot write either.
func (p *place) writable(name string) error {
	if !p.in.readOnly {
		return nil
	}
	return refuse(name, ErrReadOnly, "is in %s, which can only be read: copy it into the workspace to change it", quote(p.in.path))
}

func (p *place) written() Written {
	return Written{Name: p.name(), Linked: p.linked, Created: p.info == nil}
}

// replace puts a new file with the given bytes in the place. seen, when set, is
// what the bytes were made from: the file must not have changed since.
func (p *place) replace(owner sandbox.Owner, data []byte, seen fs.FileInfo) error {
	old := p.info
	if seen != nil {
		old = seen
	}
	if old != nil && !old.Mode().IsRegular() {
		return refuse(p.name(), ErrFileType, "is %s, and only regular files can be written", typeName(old.Mode()))
	}
	perm := fs.FileMode(0o600) // nobody reads it before it has the old file's bits
	if old == nil {
		perm = 0o666 &^ fs.FileMode(owner.Umask)
	}
	// The name cannot be foreseen, and O_EXCL follows no link: nobody can put
	// something in the way that is written instead.
	temp := ".belljar-" + rand.Text()
	f, err := p.dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	err = p.fill(f, data, owner, old)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil && seen != nil {
		err = p.unchanged(seen)
	}
	if err == nil {
		err = p.dir.Rename(temp, p.base)
	}
	if err != nil {
		// When this fails as well, the first error is the one to tell.
		_ = p.dir.Remove(temp)
	}
	return err
}

// fill gives the new file its owner, mode and bytes, all by its handle.
func (p *place) fill(f *os.File, data []byte, owner sandbox.Owner, old fs.FileInfo) error {
	if old != nil {
		keepOwner(f, old)
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	} else if err := give(p.dir, f, owner); err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}

// unchanged looks once more at the file that was read, just before it is
// replaced.
func (p *place) unchanged(seen fs.FileInfo) error {
	now, err := p.dir.Lstat(p.base)
	if err == nil && os.SameFile(seen, now) && now.Size() == seen.Size() && now.ModTime().Equal(seen.ModTime()) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return refuse(p.name(), ErrChanged, "was changed by something else during the edit: read it again")
}

// makeDir makes the folder name where the walk is; the next step enters it.
func (k *walk) makeDir(name string) error {
	err := makeFolder(k.dir, name, k.w.owner)
	if err != nil && !errors.Is(err, errSwapped) {
		return refuse(k.given, err, "making the folder %q: %s", name, reason(err))
	}
	return err
}

// makeFolder makes a folder of the owner in dir. The error is errSwapped when
// something else is or comes in its place.
func makeFolder(dir *os.Root, name string, owner sandbox.Owner) error {
	err := dir.Mkdir(name, 0o777&^fs.FileMode(owner.Umask))
	if errors.Is(err, fs.ErrExist) {
		return errSwapped
	}
	if err != nil {
		return err
	}
	made, err := dir.OpenRoot(name + "/.")
	if err != nil {
		return errSwapped
	}
	defer made.Close()
	f, err := made.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return give(dir, f, owner)
}

// give makes the owner the owner of f, which was just made in dir. Where the
// set-group-id bit of dir is set the group was inherited and stays.
func give(dir *os.Root, f *os.File, owner sandbox.Owner) error {
	info, err := dir.Stat(".")
	if err != nil {
		return err
	}
	return giveTo(f, owner, info.Mode()&fs.ModeSetgid != 0)
}
