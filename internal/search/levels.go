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

// A level holds the rules of one folder, on top of those of the folders above.
// It does not change.
type level struct {
	up               *level
	at               int // the length of the folder's path, with its slash
	git, dot, others *ignore.Rules
	// repository is set where the folder is the top of one: the .gitignore
	// files above belong to another.
	repository bool
}

// ignored tells whether a path from the mounted folder is left out. Whatever is
// in a folder that is left out is not asked for.
func (l *level) ignored(path string, isDir bool) bool {
	left, decided := false, false
	for own := true; l != nil; l = l.up {
		rel := path[l.at:]
		if ignored, ok := l.dot.Match(rel, isDir); ok {
			return ignored
		}
		if own && !decided {
			left, decided = l.git.Match(rel, isDir)
		}
		if l.repository {
			if own && !decided {
				left, decided = l.others.Match(rel, isDir)
			}
			own = false
		}
	}
	return left
}

// with adds the rules that lie in a folder, if there are some.
func (l *level) with(n *node, entries []workspace.Entry) *level {
	own := level{up: l, at: len(n.mount)}
	for _, e := range entries {
		switch {
		case e.Name == gitFolder && e.Kind != workspace.KindSpecial:
			own.repository = true
			if e.Kind == workspace.KindFolder {
				own.others = excluded(n.folder)
			}
		case e.Kind != workspace.KindFile: // a link to rules counts as little as in git
		case e.Name == gitIgnore:
			own.git = rulesIn(n.folder, gitIgnore)
		case e.Name == dotIgnore:
			own.dot = rulesIn(n.folder, dotIgnore)
		}
	}
	return own.orAbove()
}

// orAbove is the level, or that above where it says nothing.
func (l *level) orAbove() *level {
	if l.git.Empty() && l.dot.Empty() && !l.repository {
		return l.up
	}
	return l
}

func rulesIn(folder *workspace.Folder, name string) *ignore.Rules {
	f, err := folder.File(name)
	if err != nil {
		return nil // gone or unreadable: it says nothing
	}
	defer f.Close()
	return readRules(f)
}

func readRules(r io.Reader) *ignore.Rules {
	text, err := io.ReadAll(io.LimitReader(r, ignore.MaxFile))
	if err != nil {
		return nil
	}
	return ignore.Parse(text)
}

// excluded reads a repository's info/exclude.
func excluded(folder *workspace.Folder) *ignore.Rules {
	for _, name := range []string{gitFolder, "info"} {
		next, err := folder.Folder(name)
		if err != nil {
			return nil
		}
		defer next.Close()
		folder = next
	}
	return rulesIn(folder, "exclude")
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

// levelsAbove reads the rules in the folders above the one that a walk starts
// from.
func levelsAbove(w *workspace.Workspace, from *workspace.Folder) *level {
	var l *level
	for _, dir := range from.Above {
		at := 0
		if dir != from.Above[0] {
			at = len(dir) - len(from.Above[0])
		}
		own := level{up: l, at: at}
		if _, err := w.Stat(path.Join(dir, gitFolder)); err == nil {
			own.repository = true
			own.others = rulesAt(w, path.Join(dir, gitFolder, "info", "exclude"))
		}
		own.git = rulesAt(w, path.Join(dir, gitIgnore))
		own.dot = rulesAt(w, path.Join(dir, dotIgnore))
		l = own.orAbove()
	}
	return l
}

// rulesAt reads rules by a path.
func rulesAt(w *workspace.Workspace, name string) *ignore.Rules {
	f, err := w.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	if f.Linked || !f.Info.Mode().IsRegular() {
		return nil
	}
	return readRules(f)
}
