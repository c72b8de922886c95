package workspace

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// back puts back what was in the place before. The error says what is left. What
// is taken out of the place is looked at only then, and comes in again where
// something else has written to it: nothing of others is lost.
func (t *Target) back(r renamer) error {
	s := &t.steps
	switch {
	case !s.placed:
		return nil
	case t.action == removeFile:
		if err := t.renameNew(r, s.old, t.place.base); err != nil {
			return t.leftAs("is removed (" + reason(err) + ")")
		}
		return nil
	case t.Exists && s.folder != nil:
		err := r.swap(s.folder, s.old, t.place.base)
		if err == nil {
			return t.swappedBack(r)
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			return t.leftAs("has its new content (" + reason(err) + ")")
		}
	}
	return t.backPlain(r)
}

// swappedBack looks at what a swap with the old file took out of the place.
func (t *Target) swappedBack(r renamer) error {
	s, dir := &t.steps, t.place.dir
	if t.isAsWritten(s.old) {
		_ = dir.Remove(s.old) // the old file is in place all the same
		if now, err := dir.Lstat(t.place.base); err != nil || !os.SameFile(now, t.file.Info) {
			s.old = ""
			return t.leftAs("has something else in its place than its old content, which something took away meanwhile")
		}
		return nil
	}
	if err := r.swap(s.folder, s.old, t.place.base); err != nil {
		return errors.New(quote(t.Name) + " has its old content, and what something else made of the new one is in " + quote(t.beside(s.old)))
	}
	return t.leftAs(changedByOthers)
}

// backPlain is back in several steps.
func (t *Target) backPlain(r renamer) error {
	s, dir, base := &t.steps, t.place.dir, t.place.base
	taken := tempName()
	if err := dir.Rename(base, taken); err != nil {
		return t.leftAs("has not its new content any more (" + reason(err) + ")")
	}
	if !t.isAsWritten(taken) {
		if err := t.renameNew(r, taken, base); err != nil {
			return t.leftAs(changedByOthers + ", is in " + quote(t.beside(taken)) + " now")
		}
		return t.leftAs(changedByOthers)
	}
	_ = dir.Remove(taken) // its place is empty already, and it holds only what this call wrote
	if !t.Exists {
		return nil
	}
	if err := t.renameNew(r, s.old, base); err != nil {
		return t.leftAs("was made anew by something else meanwhile (" + reason(err) + ")")
	}
	return nil
}

const changedByOthers = "was changed by something else meanwhile"

// leftAs says how the place is left, with where the old file is.
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

// isNew tells whether a name stands for the new file. That one is held open, so
// that no other can have its number.
func (t *Target) isNew(name string) bool {
	now, err := t.place.dir.Lstat(name)
	if err != nil || t.steps.file == nil {
		return false
	}
	info, err := t.steps.file.Stat()
	return err == nil && os.SameFile(now, info)
}

// isAsWritten tells whether a name stands for the new file with nothing but
// what was written here.
func (t *Target) isAsWritten(name string) bool {
	return t.isNew(name) && holds(t.steps.file, t.data)
}

// holds tells whether a file has a content. It reads by the handle and leaves
// its position alone.
func holds(f *os.File, content []byte) bool {
	rest, buffer := io.NewSectionReader(f, 0, int64(len(content))+1), make([]byte, 64<<10)
	for {
		n, err := rest.Read(buffer)
		if n > len(content) || !bytes.Equal(buffer[:n], content[:n]) {
			return false
		}
		if content = content[n:]; err != nil {
			return err == io.EOF && len(content) == 0
		}
	}
}
