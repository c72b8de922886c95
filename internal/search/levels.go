package search

import (
	"io"
	"path"
	"strings"

	"github.com/belljar/belljar/internal/ignore"
	"github.com/belljar/belljar/internal/workspace"
)

// The files of rules. The rules of .ignore go before all of .gitignore, and
// those of a repository's own exclude file come last.
const (
	gitIgnore = ".gitignore"
	dotIgnore = ".ignore"
	gitFolder = ".git"
)

// Bounds of the rules that a walk holds in memory, in bytes: of those that one
// name is held against, and of all. Rules come from an untrusted folder.
const (
	maxChain = 4 << 20
	maxRules = 64 << 20
)

// A level holds the rules of one folder, on top of those of the folders above.
// It does not change.
type level struct {
	up               *level
	at               int // the length of the folder's path, with its slash
	git, dot, others *ignore.Rules
	// repository is set where the folder is the top of one: the .gitignore
	// files above belong to another.
	repository bool
	cost       int // in bytes of memory, with those above
}

// ignored tells whether a path from the mounted folder is left out. Whatever is
// in a folder that is left out is not asked for. stop ends it early, with any
// answer.
func (l *level) ignored(path string, isDir bool, stop func() bool) bool {
	left, decided := false, false
	for own := true; l != nil; l = l.up {
		rel := path[l.at:]
		if ignored, ok := l.dot.Match(rel, isDir, stop); ok {
			return ignored
		}
		if own && !decided {
			left, decided = l.git.Match(rel, isDir, stop)
		}
		if l.repository {
			if own && !decided {
				left, decided = l.others.Match(rel, isDir, stop)
			}
			own = false
		}
	}
	return left
}

// with adds the rules that lie in a folder to those above it, if there are some.
func (k *walk) with(l *level, n *node, entries []workspace.Entry) *level {
	own := newLevel(l, len(n.mount))
	for _, e := range entries {
		switch {
		case e.Name == gitFolder && e.Kind != workspace.KindSpecial:
			own.repository = true
			if e.Kind == workspace.KindFolder {
				own.others = k.excluded(own, n.folder)
			}
		case e.Kind != workspace.KindFile: // a link to rules counts as little as in git
		case e.Name == gitIgnore:
			own.git = k.rulesIn(own, n.folder, gitIgnore)
		case e.Name == dotIgnore:
			own.dot = k.rulesIn(own, n.folder, dotIgnore)
		}
	}
	return own.orAbove()
}

// newLevel begins one on top of another.
func newLevel(up *level, at int) *level {
	own := &level{up: up, at: at}
	if up != nil {
		own.cost = up.cost
	}
	return own
}

// orAbove is the level, or that above where it says nothing.
func (l *level) orAbove() *level {
	if l.git.Empty() && l.dot.Empty() && !l.repository {
		return l.up
	}
	return l
}

func (k *walk) rulesIn(l *level, folder *workspace.Folder, name string) *ignore.Rules {
	f, err := folder.File(name)
	if err != nil {
		return nil // gone or unreadable: it says nothing
	}
	defer f.Close()
	return k.rules(l, f)
}

// rules reads rules for a level, as many as the walk may still hold.
func (k *walk) rules(l *level, r io.Reader) *ignore.Rules {
	room := min(maxChain-l.cost, maxRules-int(k.held.Load()))
	if room <= 0 {
		k.cut.Add(1)
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(r, ignore.MaxFile+1))
	if err != nil {
		return nil
	}
	read := ignore.Parse(text, room)
	if read.Cut() {
		k.cut.Add(1)
	}
	l.cost += read.Cost()
	k.held.Add(int64(read.Cost()))
	return read
}

// excluded reads a repository's info/exclude.
func (k *walk) excluded(l *level, folder *workspace.Folder) *ignore.Rules {
	for _, name := range []string{gitFolder, "info"} {
		next, err := folder.Folder(name)
		if err != nil {
			return nil
		}
		defer next.Close()
		folder = next
	}
	return k.rulesIn(l, folder, "exclude")
}

// below is a folder's path from the mounted one that it is in, ending in a
// slash, or "".
func below(folder *workspace.Folder) string {
	if len(folder.Above) == 0 {
		return ""
	}
	name := folder.Name
	if strings.HasPrefix(name, "/") {
		name = strings.TrimPrefix(name, folder.Above[0]+"/")
	}
	return name + "/"
}

// above reads the rules in the folders above the one that the walk starts from.
func (k *walk) above(w *workspace.Workspace, from *workspace.Folder) *level {
	var l *level
	for _, dir := range from.Above {
		if k.stop.Load() {
			return l
		}
		at := 0
		if dir != from.Above[0] {
			at = len(dir) - len(from.Above[0])
		}
		own := newLevel(l, at)
		if _, err := w.Stat(path.Join(dir, gitFolder)); err == nil {
			own.repository = true
			own.others = k.rulesAt(own, w, path.Join(dir, gitFolder, "info", "exclude"))
		}
		own.git = k.rulesAt(own, w, path.Join(dir, gitIgnore))
		own.dot = k.rulesAt(own, w, path.Join(dir, dotIgnore))
		l = own.orAbove()
	}
	return l
}

// rulesAt reads rules by a path.
func (k *walk) rulesAt(l *level, w *workspace.Workspace, name string) *ignore.Rules {
	f, err := w.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	if f.Linked || !f.Info.Mode().IsRegular() {
		return nil
	}
	return k.rules(l, f)
}
