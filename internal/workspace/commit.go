package workspace

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/belljar/belljar/sandbox"
)

// A renamer puts files in place. The errors of swap and new are
// errors.ErrUnsupported where the file system cannot do it in one step.
type renamer struct {
	swap func(dir *os.File, a, b string) error
	new  func(dir *os.File, from, to string) error
	link func(dir *os.Root, from, to string) error
}

// steps is how far the change of one target has come.
type steps struct {
	folder *os.File    // of the file, nil where it cannot be opened
	temp   string      // the new file until it is in place
	file   *os.File    // the new file, open to tell it from others
	info   fs.FileInfo // of the new file, nil until it is complete
	old    string      // where the old file is kept until all is done
	placed bool
}

func (s *steps) close() {
	if s.folder != nil {
		s.folder.Close()
	}
	if s.file != nil {
		s.file.Close() // it was synced where that counts
	}
}

// tempName is a name that cannot be foreseen. With O_EXCL, which follows no
// link, nobody can put something in the way that is written instead.
func tempName() string { return ".belljar-" + rand.Text() }

// commit makes the changes. All new files are complete before the first is put
// in place, and all old ones are kept until the last is.
func (c *Changes) commit() error {
	for _, t := range c.targets {
		if err := t.stage(c.w.owner); err != nil {
			c.discard()
			return failure(t.given, "writing", err)
		}
	}
	for _, t := range c.targets {
		if t.action == keepFile || !t.Exists {
			continue
		}
		if err := t.unchanged(t.place.base); err != nil {
			c.discard()
			return err
		}
	}
	for i, t := range c.targets {
		if err := t.put(c.w.renamer); err != nil {
			err = c.undo(i, failure(t.given, "writing", err))
			c.discard()
			return err
		}
	}
	for _, t := range c.targets {
		t.settle()
	}
	return nil
}

// undo puts back what the first n targets had, the last one first. It returns
// why, with what could not be put back.
func (c *Changes) undo(n int, why error) error {
	var left []string
	for i := n - 1; i >= 0; i-- {
		if err := c.targets[i].back(c.w.renamer); err != nil {
			left = append(left, err.Error())
		}
	}
	var refusal *Refusal
	if left == nil || !errors.As(why, &refusal) {
		return why
	}
	return refuse(refusal.Path, errors.Join(ErrPartly, refusal.err), "%s. What was changed before could not all be put back: %s", refusal.Why, strings.Join(left, "; "))
}

// discard takes away the new files that are not in place. A name that stands
// for something else by now is not removed, nor is a file that something else
// has written to.
func (c *Changes) discard() {
	for _, t := range c.targets {
		s := &t.steps
		if s.temp != "" && !s.placed && (t.isAsWritten(s.temp) || s.info == nil && t.isNew(s.temp)) {
			// When this fails as well, the first error is the one to tell.
			_ = t.place.dir.Remove(s.temp)
		}
	}
}

// stage writes the new file beside where it will be.
func (t *Target) stage(owner sandbox.Owner) error {
	if t.action == keepFile {
		return nil
	}
	dir := t.place.dir
	// A folder that cannot be listed can still be written in, if not as well.
	t.steps.folder, _ = dir.Open(".")
	if t.action == removeFile {
		return nil
	}
	perm := fs.FileMode(0o600) // nobody reads it before it has the old file's bits
	if t.model() == nil {
		perm = 0o666 &^ fs.FileMode(owner.Umask)
	}
	temp := tempName()
	f, err := dir.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	t.steps.temp, t.steps.file = temp, f
	return t.fill(f, owner)
}

// fill gives the new file its owner, bytes, attributes and mode, all by its
// handle.
func (t *Target) fill(f *os.File, owner sandbox.Owner) error {
	old := t.model()
	if old != nil {
		keepOwner(f, old.Info)
	} else if err := give(t.place.dir, f, owner); err != nil {
		return err
	}
	if _, err := f.Write(t.data); err != nil {
		return err
	}
	if old != nil {
		if err := copyAttributes(f, old.File); err != nil {
			return refuse(t.given, err, "cannot be replaced: keeping its extended attributes: %s", reason(err))
		}
		if err := f.Chmod(old.Info.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	var err error
	t.steps.info, err = f.Stat()
	return err
}

// settle takes away what is not needed when all is in place, and makes it last.
func (t *Target) settle() {
	s := &t.steps
	if t.action == keepFile {
		return
	}
	if s.old != "" {
		// The change is made all the same.
		_ = t.place.dir.Remove(s.old)
	}
	if s.folder != nil {
		_ = s.folder.Sync() // not every file system can
	}
	for _, made := range t.place.made {
		made.sync()
	}
	t.ID, t.Version = FileID{}, Version{}
	if t.action == writeFile {
		t.ID, t.Version = idOf(s.info), VersionOf(t.data)
		if len(t.data) > maxHashed {
			t.Version = coarseVersion(s.info)
		}
	}
}
