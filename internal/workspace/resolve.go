package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const (
	// maxLinks is how many links one path may lead through, as in the kernel.
	maxLinks = 40
	// maxSwaps is how often a step is tried anew when what it found was
	// replaced before it could be entered.
	maxSwaps = 100
	// maxSteps bounds the work that one path can cause through links whose
	// targets are long.
	maxSteps = 4096
)

// A place is where a path leads: a name in an open folder. Everything done
// there is done through the folder's handle.
type place struct {
	in     *mounted // the folder that holds it
	home   bool     // that is the workspace
	dir    *os.Root
	base   string      // "." for the folder itself
	parent []string    // the folder's own names, from the workspace down, no links
	info   fs.FileInfo // what is there, nil for nothing; never a link
	linked bool        // a link was followed
	made   []folder    // folders that were made on the way
}

func (p *place) close() {
	p.dir.Close()
	closeFolders(p.made)
}

// name is the path of the place relative to the workspace, without links; in
// another folder it is absolute.
func (p *place) name() string {
	name := path.Join(path.Join(p.parent...), p.base)
	if p.home {
		return name
	}
	return path.Join(p.in.path, name)
}

// A walk resolves one path.
type walk struct {
	w      *Workspace
	given  string
	create bool     // make missing folders on the way
	write  bool     // what it leads to will be written
	in     *mounted // the mounted folder that the walk is in
	dir    *os.Root // the folder reached, owned
	names  []string // its names, from the mounted one down
	rest   []string // what is still to be walked
	// above is set while the walk is outside of all mounted folders, where
	// nothing is looked at: going on to the mount point of one comes back in,
	// as inside the sandbox, and ending there is refused.
	above        string
	link, target string // the link followed last
	links        int
	swaps        int
	made         []folder
}

// errSwapped says that what a step saw was replaced before it was entered.
var errSwapped = errors.New("replaced meanwhile")

// A purpose is what a path is resolved for.
type purpose int

const (
	toRead   purpose = iota
	toUpdate         // what is there is going to be changed
	toCreate         // the same, and missing folders on the way are made
)

// resolve walks to where name leads. The caller closes the place.
func (w *Workspace) resolve(name string, why purpose) (*place, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	k := &walk{w: w, given: name, create: why == toCreate, write: why != toRead, in: w.home, rest: split(name)}
	if path.IsAbs(name) {
		k.above = "/"
	}
	p, err := k.run()
	if err != nil {
		if k.dir != nil {
			k.dir.Close()
		}
		removeFolders(k.made)
		closeFolders(k.made)
		return nil, failure(name, "opening", err)
	}
	return p, nil
}

func checkName(name string) error {
	switch {
	case name == "":
		return refuse(name, fs.ErrInvalid, "the path is empty")
	case strings.ContainsRune(name, 0):
		return refuse(name, fs.ErrInvalid, "the path holds a NUL byte")
	case name == "~" || strings.HasPrefix(name, "~/"):
		return refuse(name, fs.ErrInvalid, "~ is not expanded here: use a path relative to the workspace (./~ for a folder of that name)")
	}
	return nil
}

// split gives the names of a path without the empty ones and ".".
func split(name string) []string {
	var names []string
	for part := range strings.SplitSeq(name, "/") {
		if part != "" && part != "." {
			names = append(names, part)
		}
	}
	return names
}

func (k *walk) run() (*place, error) {
	if err := k.restart(nil); err != nil {
		return nil, err
	}
	for steps := 0; len(k.rest) > 0; steps++ {
		if steps > maxSteps {
			return nil, refuse(k.given, fs.ErrInvalid, "the path has too many steps")
		}
		p, err := k.step(k.rest[0])
		if errors.Is(err, errSwapped) {
			if k.swaps++; k.swaps > maxSwaps {
				if k.isGiven(k.rest[0]) {
					return nil, refuse(k.given, ErrChanged, "keeps changing while it is opened")
				}
				return nil, refuse(k.given, ErrChanged, "%q keeps changing while it is opened", k.rest[0])
			}
			continue
		}
		if p != nil || err != nil {
			return p, err
		}
	}
	if k.above != "" {
		return nil, k.outside()
	}
	info, err := k.dir.Stat(".")
	if err != nil {
		return nil, err
	}
	return k.place(".", info), nil
}

// place is a name in the folder reached.
func (k *walk) place(base string, info fs.FileInfo) *place {
	return &place{
		in: k.in, home: k.in == k.w.home, dir: k.dir, base: base, parent: k.names, info: info, linked: k.links > 0,
		made: k.made,
	}
}

// step takes one name. It returns a place when that was the last one.
func (k *walk) step(name string) (*place, error) {
	switch {
	case k.above != "":
		k.rest = k.rest[1:]
		k.above = path.Join(k.above, name)
		if into := k.w.mountedAt(k.above); into != nil {
			k.in, k.above = into, ""
			return nil, k.restart(nil)
		}
		return nil, nil
	case name == "..":
		k.rest = k.rest[1:]
		if len(k.names) == 0 {
			k.above = path.Dir(k.in.path)
			return nil, nil
		}
		return nil, k.restart(k.names[:len(k.names)-1])
	}
	info, err := k.dir.Lstat(name)
	last := len(k.rest) == 1
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err != nil:
		info = nil
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, k.follow(name)
	}
	if guardErr := k.guard(name, info); guardErr != nil {
		return nil, guardErr
	}
	switch {
	case last:
		return k.place(name, info), nil
	case info != nil:
		return nil, k.enter(name, info)
	case k.create && !k.in.readOnly:
		return nil, k.makeDir(name)
	default:
		return nil, k.missing(name)
	}
}

// restart goes to the folder with the given names. They are names that the
// walk came through, none of them a link then; where one has become a link
// since, the root keeps it inside.
func (k *walk) restart(names []string) error {
	// The final "/." makes every name an O_DIRECTORY step: a FIFO in the
	// place of the folder fails there, while opening it would block.
	dir, err := k.in.root.OpenRoot(path.Join(".", path.Join(names...)) + "/.")
	if err != nil {
		return err
	}
	k.move(dir, names)
	return nil
}

func (k *walk) move(dir *os.Root, names []string) {
	if k.dir != nil {
		k.dir.Close()
	}
	k.dir, k.names = dir, names
}

// enter goes into the folder name, which was seen as info.
func (k *walk) enter(name string, info fs.FileInfo) error {
	if !info.IsDir() {
		return refuse(k.given, ErrFileType, "%q is %s, not a folder", path.Join(path.Join(k.names...), name), typeName(info.Mode()))
	}
	dir, err := k.dir.OpenRoot(name + "/.")
	if err != nil {
		if now, lstatErr := k.dir.Lstat(name); lstatErr == nil && os.SameFile(info, now) {
			return err
		}
		return errSwapped
	}
	now, err := dir.Stat(".")
	if err != nil || !os.SameFile(info, now) {
		dir.Close()
		return errSwapped
	}
	k.move(dir, append(k.names[:len(k.names):len(k.names)], name))
	k.rest = k.rest[1:]
	return nil
}

// follow puts the target of the link name in front of what is left.
func (k *walk) follow(name string) error {
	target, err := k.dir.Readlink(name)
	if err != nil {
		return errSwapped
	}
	if k.links++; k.links > maxLinks {
		return refuse(k.given, fs.ErrInvalid, "it leads through more than %d links, which is probably a cycle (at %q)", maxLinks, name)
	}
	target = filepath.ToSlash(target)
	k.link, k.target = path.Join(path.Join(k.names...), name), target
	k.rest = append(split(target), k.rest[1:]...)
	if path.IsAbs(target) {
		k.above = "/"
	}
	return nil
}

func (k *walk) missing(name string) error {
	at := path.Join(path.Join(k.names...), name)
	return refuse(k.given, fs.ErrNotExist, "does not exist: there is no folder %q%s", at, k.through())
}

// through says which link led here.
func (k *walk) through() string {
	if k.link == "" {
		return ""
	}
	return " (the link " + quote(k.link) + " leads to " + quote(k.target) + ")"
}

func (k *walk) outside() error {
	if k.link == "" {
		places := append([]string{k.w.home.path}, k.w.Further(false)...)
		return refuse(k.given, ErrOutside, "is outside the workspace: use a path relative to the workspace, or one under %s", strings.Join(places, " or "))
	}
	if k.isGiven(k.link) {
		return refuse(k.given, ErrOutside, "is a link to %s, which is outside the workspace", quote(k.target))
	}
	return refuse(k.given, ErrOutside, "the link %s leads to %s, which is outside the workspace", quote(k.link), quote(k.target))
}

// isGiven tells a name in the folder that the walk is in which is what was given,
// absolute or not: a refusal begins with that, and need not name it once more.
func (k *walk) isGiven(name string) bool {
	return strings.EqualFold(strings.TrimPrefix(path.Clean(k.given), k.in.path+"/"), name)
}
