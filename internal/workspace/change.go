package workspace

import (
	"io"
	"io/fs"
	"os"
	"strings"
)

// Changes are what is going to be done to some files, all of it or nothing.
// They are used by one goroutine, within the function given to
// [Workspace.Change].
type Changes struct {
	w       *Workspace
	targets []*Target
	made    int // folders
}

// Change calls plan to say what to change, and then does it. Other changes of
// this workspace wait meanwhile. Nothing is changed where plan fails, and its
// error is returned as it is. It is the same where one of the files cannot be
// changed, or was changed by someone else since plan looked at it: what was in
// place already is put back then. Where even that fails the [Refusal] says what
// is left of it.
//
// A reader of one of the files sees the old bytes or the new ones, never a
// mixture, and the new ones are on disk when Change returns.
func (w *Workspace) Change(plan func(*Changes) error) error {
	w.write.Lock()
	defer w.write.Unlock()
	c := &Changes{w: w}
	defer c.close()
	err := plan(c)
	if err == nil {
		err = c.commit()
	}
	for i := len(c.targets) - 1; err != nil && i >= 0; i-- {
		removeFolders(c.targets[i].place.made)
	}
	return err
}

func (c *Changes) close() {
	for _, t := range c.targets {
		t.close()
	}
}

// An action is what is going to be done to a target.
type action int

const (
	keepFile action = iota
	writeFile
	removeFile
)

// A Target is a file that is going to be changed, or the place of a new one.
// It is valid within the function given to [Workspace.Change]; what tells of
// it is also afterwards.
type Target struct {
	// Name is the path relative to the workspace, with every link resolved.
	Name string
	// Linked is set when a link was followed; the link itself stays.
	Linked bool
	// Exists is set when there is such a file.
	Exists bool
	// Names is how many names the file has. Each but Name goes on to stand for
	// the old content: what has a name elsewhere may belong to others.
	Names int
	// ID and Version are those of the file as it is: after the change those of
	// the new one.
	ID      FileID
	Version Version

	given  string
	place  *place
	file   *File // open for reading where it exists
	action action
	data   []byte  // to be written
	like   *Target // whose mode and attributes a new file gets
	steps  steps
}

// Existing is the file that name leads to. What is no regular file, is not
// there or cannot be written is a [Refusal].
func (c *Changes) Existing(name string) (*Target, error) {
	t, err := c.target(name, toUpdate)
	if err == nil && !t.Exists {
		return nil, t.place.missing(name)
	}
	return t, err
}

// Place is the file that name leads to, or the place where it would be. Missing
// folders on the way are made.
func (c *Changes) Place(name string) (*Target, error) {
	if strings.HasSuffix(name, "/") {
		return nil, refuse(name, ErrFileType, "names a folder: give the name of a file")
	}
	return c.target(name, toCreate)
}

func (c *Changes) target(name string, why purpose) (*Target, error) {
	p, err := c.w.resolve(name, why)
	if err != nil {
		return nil, err
	}
	t := &Target{Name: p.name(), Linked: p.linked, given: name, place: p}
	c.targets = append(c.targets, t)
	if c.made += len(p.made); c.made > maxAllMade {
		return nil, refuse(name, fs.ErrInvalid, "more than %d folders would have to be made for it and the files before it: make them first, or several calls", maxAllMade)
	}
	if err := t.open(); err != nil {
		return nil, err
	}
	for _, other := range c.targets[:len(c.targets)-1] {
		if t.below(other) {
			return nil, refuse(name, ErrTwice, "leads through %s, which the same call makes as a file: it cannot be a folder as well", quote(other.given))
		}
		if t.same(other) {
			return nil, refuse(name, ErrTwice, "is the same file as %s, and can be changed once in one step: give all of its changes together", quote(other.given))
		}
	}
	return t, nil
}

// open looks at what is there and holds it by its handle.
func (t *Target) open() error {
	p := t.place
	if p.in.readOnly {
		return refuse(t.given, ErrReadOnly, "is in %s, which can only be read: copy it into the workspace to change it", quote(p.in.path))
	}
	if p.info == nil {
		return nil
	}
	if !p.info.Mode().IsRegular() {
		return notRegular(t.given, p.info)
	}
	f, err := p.open(t.given)
	if err != nil {
		return err
	}
	t.file = f
	if !f.Info.Mode().IsRegular() {
		return notRegular(t.given, f.Info)
	}
	t.Exists, t.Names, t.ID = true, linkCount(f.Info), f.ID()
	t.Version, err = f.Version()
	return err
}

func notRegular(name string, info fs.FileInfo) error {
	return refuse(name, ErrFileType, "is %s, and only regular files can be written", typeName(info.Mode()))
}

// same tells whether two targets are one file, or one place for a new one.
func (t *Target) same(other *Target) bool {
	if t.Exists != other.Exists {
		return false
	}
	if t.Exists {
		return os.SameFile(t.file.Info, other.file.Info)
	}
	return sameFolder(t.place.dir, other.place.dir) && t.place.base == other.place.base
}

// below tells whether a folder on the way to t was made where the other one
// would be a new file.
func (t *Target) below(other *Target) bool {
	for _, made := range t.place.made {
		if !other.Exists && made.name == other.place.base && sameFolder(made.in, other.place.dir) {
			return true
		}
	}
	return false
}

func sameFolder(a, b *os.Root) bool {
	infoA, errA := a.Stat(".")
	infoB, errB := b.Stat(".")
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// Content reads the file as it is. One of more than limit bytes is refused with
// [ErrTooLarge].
func (t *Target) Content(limit int64) ([]byte, error) {
	if !t.Exists {
		return nil, nil
	}
	data, err := io.ReadAll(io.NewSectionReader(t.file, 0, limit+1))
	if err != nil {
		return nil, failure(t.given, "reading", err)
	}
	if int64(len(data)) > limit {
		return nil, refuse(t.given, ErrTooLarge, "is larger than %d bytes", limit)
	}
	if limit <= maxHashed {
		t.Version = VersionOf(data) // these are the bytes that a change goes by
	}
	return data, nil
}

// Size is the size of the file as it is, in bytes.
func (t *Target) Size() int64 {
	if !t.Exists {
		return 0
	}
	return t.file.Info.Size()
}

// Write makes data the whole content of the file. A file that exists keeps its
// permission bits and extended attributes, and its owner where the process may
// set it; set-id bits and capabilities are dropped, as write(2) drops them.
func (t *Target) Write(data []byte) { t.action, t.data = writeFile, data }

// WriteLike is Write for a new file that takes over from another one: mode,
// owner and attributes are that one's.
func (t *Target) WriteLike(data []byte, other *Target) {
	t.Write(data)
	t.like = other
}

// Remove takes the file away. It must exist.
func (t *Target) Remove() { t.action = removeFile }

// model is the file that a new one is made like, nil for none.
func (t *Target) model() *File {
	switch {
	case t.Exists:
		return t.file
	case t.like != nil:
		return t.like.file
	}
	return nil
}

func (t *Target) close() {
	if t.file != nil {
		t.file.Close()
	}
	t.steps.close()
	t.place.close()
}

// unchanged tells whether what is named base is still the file that was looked
// at, with the content that it had. The content is looked at by the handle, so
// it is that file's whatever the name stands for by now.
func (t *Target) unchanged(base string) error {
	now, err := t.place.dir.Lstat(base)
	if err != nil {
		return t.changed()
	}
	seen := t.file.Info
	if !os.SameFile(seen, now) || now.Mode() != seen.Mode() {
		return t.changed()
	}
	version, err := t.file.Version()
	if err != nil {
		return err
	}
	if version != t.Version {
		return t.changed()
	}
	return nil
}

func (t *Target) changed() error {
	return refuse(t.given, ErrChanged, "was changed by something else during the call: read it again")
}
