package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/belljar/belljar/internal/gitdir"
	"github.com/belljar/belljar/sandbox"
)

// ErrProtected is wrapped when a path is one that must not be written.
var ErrProtected = errors.New("protected")

// Protect makes the workspace refuse to write what p holds read-only, by
// whatever name: through links, in another case of letters where the file
// system does not tell them apart, under a second name. Where a repository is
// held, so is all that git would obey of it and of its submodules and worktrees
// and that does not exist yet. It is called before anything is written.
func (w *Workspace) Protect(p sandbox.Protection) {
	w.protected, w.repositories = slices.Clone(p.ReadOnly), nil
	if slices.Contains(p.Fixed, gitdir.Name) {
		w.repositories = append(w.repositories, gitdir.Name)
	}
	for _, name := range p.ReadOnly {
		if dir := path.Dir(name); gitdir.Obeyed(path.Base(name)) && !slices.Contains(w.repositories, dir) {
			w.repositories = append(w.repositories, dir)
		}
	}
}

// obeys tells whether git would obey a path, be it there or not.
func (w *Workspace) obeys(at string) bool {
	parts := strings.Split(at, "/")
	for _, dir := range w.repositories {
		above := split(dir)
		if n := len(above); n < len(parts) && slices.EqualFunc(above, parts[:n], strings.EqualFold) &&
			gitdir.Obeyed(path.Join(parts[n:]...)) {
			return true
		}
	}
	return false
}

// guard refuses a step of a walk that is going to write: to the name in the
// folder that the walk has reached. info is what is there, nil for nothing.
// Every folder on the way is looked at as well, so what lies in a protected
// one is refused too.
func (k *walk) guard(name string, info fs.FileInfo) error {
	if !k.write {
		return nil
	}
	at := path.Join(path.Join(k.names...), name)
	if k.in == k.w.home && k.w.obeys(at) {
		return k.protected(at, at)
	}
	for _, protected := range k.w.protected {
		same := k.in == k.w.home && strings.EqualFold(at, protected)
		if !same && info != nil {
			// Looked at each time: the host may replace it during a run.
			held, err := k.w.home.root.Lstat(protected)
			same = err == nil && os.SameFile(held, info)
		}
		if same {
			return k.protected(at, protected)
		}
	}
	return nil
}

// protected refuses what the walk has reached under the name at.
func (k *walk) protected(at, protected string) error {
	return refuse(k.given, ErrProtected, "%s protected, because git on the host runs what it says: "+
		"leave it as it is, and tell the user what to change there", k.relation(at, protected))
}

// relation says how the path that was given comes to what is protected, which
// the walk has reached under the name at. By that name and without a link it is
// just there, or it lies in it.
func (k *walk) relation(at, protected string) string {
	direct := k.links == 0 && k.in == k.w.home && strings.EqualFold(at, protected) && !slices.Contains(k.rest, "..")
	switch {
	case direct && len(k.rest) == 1:
		return "is"
	case direct:
		return "lies in " + quote(protected) + ", which is"
	}
	return "leads to " + quote(protected) + ", which is"
}
