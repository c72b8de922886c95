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
	if errors.Is(err, fs.ErrExist) {
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
		return t.putOverPlain()
	}
	err := r.swap(s.folder, s.temp, base)
	if errors.Is(err, errors.ErrUnsupported) {
		return t.putOverPlain()
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
	s.old, s.placed = s.temp, true
	return nil
}

// giveBack undoes the swap with a file that was not the one looked at, and
// returns why. When the place was taken once more meanwhile the newest file
// stays, as if the swap had never been.
func (t *Target) giveBack(r renamer, why error) error {
	s := &t.steps
	for range 2 {
		if err := r.swap(s.folder, s.temp, t.place.base); err != nil {
			kept := s.temp
			s.temp = ""
			return refuse(t.given, ErrChanged, "was changed by something else during the call, and giving that back failed (%s): it is in %s", reason(err), quote(t.beside(kept)))
		}
		if now, err := t.place.dir.Lstat(s.temp); err == nil && os.SameFile(now, s.info) {
			break
		}
	}
	return why
}

// putOverPlain is putOver for file systems that cannot swap: the old file gets
// a second name first, to be put back by.
func (t *Target) putOverPlain() error {
	s, dir, base := &t.steps, t.place.dir, t.place.base
	if err := t.unchanged(base); err != nil {
		return err
	}
	old := tempName()
	if err := dir.Link(base, old); err != nil {
		// Without hard links there is nothing for a moment.
		if err := dir.Rename(base, old); err != nil {
			return err
		}
	}
	if err := dir.Rename(s.temp, base); err != nil {
		return errors.Join(err, dir.Rename(old, base))
	}
	s.old, s.placed = old, true
	return nil
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
	err := dir.Link(from, to)
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

// back puts back what was in the place before. The error says what is left.
func (t *Target) back(r renamer) error {
	s, dir, base := &t.steps, t.place.dir, t.place.base
	if !s.placed {
		return nil
	}
	if t.action == removeFile {
		if err := t.renameNew(r, s.old, base); err != nil {
			return t.leftAs("is removed (" + reason(err) + ")")
		}
		return nil
	}
	if now, err := dir.Lstat(base); err != nil || !os.SameFile(now, s.info) {
		return t.leftAs("was replaced by something else meanwhile")
	}
	var err error
	if t.Exists {
		err = dir.Rename(s.old, base)
	} else {
		err = dir.Remove(base)
	}
	if err != nil {
		return t.leftAs("has its new content (" + reason(err) + ")")
	}
	return nil
}

func (t *Target) leftAs(how string) error {
	if t.steps.old == "" {
		return errors.New(quote(t.Name) + " " + how)
	}
	return errors.New(quote(t.Name) + " " + how + ", and its old content is in " + quote(t.beside(t.steps.old)))
}

// beside is the path of another name in the target's folder.
func (t *Target) beside(name string) string {
	other := *t.place
	other.base = name
	return other.name()
}
