package tripwire

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/belljar/belljar/internal/gitdir"
)

// A folder is one that is still to be walked.
type folder struct {
	path string
	// all is set for one that is watched with all it holds; it says what
	// obeys it.
	all string
	// perhaps is set where there need be no folder: what is there instead, such
	// as a link out, was looked at as a file.
	perhaps bool
	// dependency is set below a folder of dependencies.
	dependency bool
	// via is the configuration or mark that named it, "" for none.
	via string
}

// A walk is one look at a folder. Those that are less deep come first, so that
// the files that count most are seen before a bound is reached.
type walk struct {
	root    *os.Root
	dir     string    // its host path
	bound   Options   // what left and end are from
	left    int       // names that may still be looked at
	end     time.Time // when no more is looked at; zero is never
	files   map[string]state
	queue   []folder
	kept    int      // bytes of content
	closed  []string // folders that could not be read
	stopped string   // which bound was reached, "" for none
	unseen  unseen   // what was not looked at
	// named is what configurations and marks named, be it there or not.
	named map[string]bool
	// folders are those that were listed.
	folders map[string]bool
	// repositories are the folders of git's repositories that were seen, and
	// tops the folders that they are the repositories of.
	repositories, tops map[string]bool
	read               map[string]bool // configurations that were
	looked             map[string]bool // paths that are known to be as in files
}

// all walks everything.
func (k *walk) all() {
	files, folders, parts := fileRules(), folderRules(), partRules()
	k.queue = append([]folder{{path: "."}}, k.queue...)
	for len(k.queue) > 0 {
		f := k.queue[0]
		k.queue = k.queue[1:]
		if k.over() {
			k.unseen.add(f.path)
			continue
		}
		entries, err := k.list(f.path)
		if err != nil {
			k.shut(f, err)
			continue
		}
		switch {
		case f.all != "":
			k.whole(f, entries)
		case isRepository(f.path, entries):
			k.repository(f.path)
			if path.Base(f.path) != gitdir.Name {
				k.ordinary(f, entries, files, folders)
			}
		default:
			k.ordinary(f, entries, files, folders)
			k.parts(f, parts[path.Base(f.path)])
		}
	}
}

// shut remembers a folder that could not be listed.
func (k *walk) shut(f folder, err error) {
	if errors.Is(err, fs.ErrPermission) {
		k.unseen.add(f.path)
	}
	if !f.perhaps && !errors.Is(err, fs.ErrNotExist) {
		k.closed = append(k.closed, f.path)
	}
}

// over tells whether a bound is reached, and remembers which.
func (k *walk) over() bool {
	switch {
	case k.stopped != "":
	case k.left <= 0:
		k.stopped = fmt.Sprintf("there are more than %d names in the folder", k.bound.Entries)
	case !k.end.IsZero() && time.Now().After(k.end):
		k.stopped = fmt.Sprintf("it took longer than %s", k.bound.Time)
	}
	return k.stopped != ""
}

// list reads the names in a folder. The final "/." makes each name on the way
// one of a folder: opening a FIFO would block.
func (k *walk) list(dir string) ([]fs.DirEntry, error) {
	f, err := k.root.Open(dir + "/.")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	k.folders[dir] = true
	var list []fs.DirEntry
	for {
		entries, err := f.ReadDir(1000)
		list = append(list, entries...)
		k.left -= len(entries)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if k.over() {
			k.unseen.add(dir) // there may be more, and more below
			break
		}
	}
	return list, nil
}

// ordinary looks at a folder of the user's own files.
func (k *walk) ordinary(f folder, entries []fs.DirEntry, files, folders map[string]string) {
	for _, entry := range entries {
		name := entry.Name()
		what, watched := files[name]
		whole, isWhole := folders[name]
		switch {
		case name == environmentMark && !f.dependency:
			k.environment(f)
		case !watched && path.Ext(name) == editorProject:
			what, watched = "editors", true
		}
		if !watched && !isWhole && !entry.IsDir() && name != gitdir.Name {
			continue // nearly all of them: this is what a walk costs
		}
		at := path.Join(f.path, name)
		switch {
		case name == gitdir.Name && !entry.IsDir():
			k.leading(at)
		case f.dependency && !entry.IsDir():
		case isWhole && !f.dependency && !entry.IsDir():
			k.file(at, whole)
			k.queue = append(k.queue, folder{path: at, all: whole, perhaps: true})
		case isWhole && !f.dependency:
			k.queue = append(k.queue, folder{path: at, all: whole})
		case entry.IsDir():
			k.queue = append(k.queue, folder{path: at, dependency: f.dependency || name == dependencies})
		case watched:
			k.file(at, what)
		}
	}
}

// parts looks at what is watched of a folder that is not as a whole.
func (k *walk) parts(f folder, names map[string]string) {
	for name, what := range names {
		at := path.Join(f.path, name)
		switch {
		case f.dependency:
		case strings.HasSuffix(name, "/"):
			k.queue = append(k.queue, folder{path: at, all: what, perhaps: true})
		default:
			k.file(at, what)
		}
	}
}

// environment looks at an environment of Python.
func (k *walk) environment(f folder) {
	mark := path.Join(f.path, environmentMark)
	k.file(mark, pythonWord)
	for _, name := range environmentFiles() {
		k.name(path.Join(f.path, name), pythonWord, mark)
	}
}

// whole looks at a folder that is watched with all it holds. Links in it are
// not followed, or they could lead round in circles.
func (k *walk) whole(f folder, entries []fs.DirEntry) {
	for _, entry := range entries {
		at := path.Join(f.path, entry.Name())
		switch {
		case entry.IsDir():
			k.queue = append(k.queue, folder{path: at, all: f.all, via: f.via})
		case f.all == hooksWord && path.Ext(entry.Name()) == ".sample":
			// A new repository has a dozen of them, and git runs none.
		default:
			k.led(at, f.all, f.via)
		}
	}
}
