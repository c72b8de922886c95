package workspace

import (
	"errors"
	"io/fs"
	"os"
)

// put does what is to be done, in one step where the file system can.
func (t *Target) put(r renamer) error {
	switch {
	case t.action == keepFile:
		return nil
	case t.action == removeFile:
		return t.putAway(r)
	case t.Exists:
		return t.putOver(r)
	}
	err := t.renameNew(r, t.steps.temp, t.place.base)
	if errors.Is(err, fs.ErrExist) || err == nil && !t.isNew(t.place.base) {
		return refuse(t.given, ErrChanged, "was made by something else during the call: read it")
	}
	t.steps.placed = err == nil
	return err
}

// putOver puts the new file in the place of the old one. Looking at the old one
// first cannot tell whether it is still there a moment later; so the two are
// swapped, and what was really displaced is looked at.
func (t *Target) putOver(r renamer) error {
	s, base := &t.steps, t.place.base
	if s.folder == nil {
		return t.putOverPlain(r)
	}
	err := r.swap(s.folder, s.temp, base)
	if errors.Is(err, errors.ErrUnsupported) {
		return t.putOverPlain(r)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return t.changed()
	}
	if err != nil {
		return err
	}
	if err := t.unchanged(s.temp); err != nil {
		return t.giveBack(r, err)
	}
	return t.placed(s.temp)
}

// placed notes that the new file is in place and the old one has another name.
// Where something else took the place at once, or came in by the name that the
// new file had, the old one is kept: nobody else has it then.
func (t *Target) placed(old string) error {
	s := &t.steps
	s.temp = ""
	if !t.isNew(t.place.base) {
		return refuse(t.given, ErrChanged, "was replaced by something else during the call: read it again; what it held before is in %s", quote(t.beside(old)))
	}
	s.old, s.placed = old, true
	return nil
}

// giveBack undoes the swap with a file that was not the one looked at, and
// returns why. When the place was taken once more meanwhile the newest file
// stays, as if the swap had never been. What comes out and is more than the new
// file as it was written is kept, and said.
func (t *Target) giveBack(r renamer, why error) error {
	s := &t.steps
	for range 2 {
		if err := r.swap(s.folder, s.temp, t.place.base); err != nil {
			kept := s.temp
			s.temp = ""
			return refuse(t.given, ErrChanged, "was changed by something else during the call, and giving that back failed (%s): it is in %s", reason(err), quote(t.beside(kept)))
		}
		if t.isNew(s.temp) {
			break
		}
	}
	if t.isAsWritten(s.temp) {
		return why
	}
	kept := s.temp
	s.temp = ""
	return refuse(t.given, ErrChanged, "was changed by something else during the call, more than once: read it again; one of the changes is in %s", quote(t.beside(kept)))
}

// putOverPlain is putOver for file systems that cannot swap: the old file gets
// a second name first, to be put back by, and is looked at by that one.
func (t *Target) putOverPlain(r renamer) error {
	dir, base, old := t.place.dir, t.place.base, tempName()
	if err := r.link(dir, base, old); err == nil {
		if err := t.replaceLinked(old); err != nil {
			_ = dir.Remove(old) // the other name has the file all the same
			return err
		}
		return t.placed(old)
	}
	// Without hard links there is nothing for a moment.
	if err := dir.Rename(base, old); errors.Is(err, fs.ErrNotExist) {
		return t.changed()
	} else if err != nil {
		return err
	}
	err := t.unchanged(old)
	if err == nil {
		err = t.renameNew(r, t.steps.temp, base)
	}
	if err == nil {
		return t.placed(old)
	}
	if backErr := t.renameNew(r, old, base); backErr != nil {
		return refuse(t.given, ErrChanged, "was made anew by something else during the call: read it again; what it held before is in %s", quote(t.beside(old)))
	}
	return err
}

// replaceLinked renames the new file over the old one, which has a second name.
func (t *Target) replaceLinked(old string) error {
	dir, base := t.place.dir, t.place.base
	seen, err := dir.Lstat(old)
	if err != nil {
		return t.changed()
	}
	if err := t.unchanged(old); err != nil {
		return err
	}
	// That took as long as reading the file does: once more, with nothing
	// between.
	now, err := dir.Lstat(base)
	if err != nil || !os.SameFile(seen, now) || !seen.ModTime().Equal(now.ModTime()) {
		return t.changed()
	}
	err = dir.Rename(t.steps.temp, base)
	if errors.Is(err, fs.ErrNotExist) {
		return t.changed()
	}
	return err
}

// putAway takes the old file out of its place.
func (t *Target) putAway(r renamer) error {
	dir, old := t.place.dir, tempName()
	err := dir.Rename(t.place.base, old)
	if errors.Is(err, fs.ErrNotExist) {
		return t.changed()
	}
	if err != nil {
		return err
	}
	t.steps.old = old
	if err := t.unchanged(old); err != nil {
		if backErr := t.renameNew(r, old, t.place.base); backErr != nil {
			return refuse(t.given, ErrChanged, "was changed by something else during the call: it is in %s now", quote(t.beside(old)))
		}
		return err
	}
	t.steps.placed = true
	return nil
}

// renameNew gives a file a name that nothing has, and fails with fs.ErrExist
// where something has it.
func (t *Target) renameNew(r renamer, from, to string) error {
	if t.steps.folder != nil {
		if err := r.new(t.steps.folder, from, to); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	dir := t.place.dir
	err := r.link(dir, from, to)
	if err == nil {
		_ = dir.Remove(from) // it is in place all the same
		return nil
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	// Without hard links it takes two steps.
	if _, err := dir.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return dir.Rename(from, to)
}
