package tools

import (
	"os"
	"sync"

	"github.com/belljar/belljar/internal/workspace"
)

// Seen is what one agent knows of files: the version of each when a tool last
// read or wrote it for the agent. A change goes by what the agent knows, so one
// of a file that has changed since is refused. Each agent has a Seen of its
// own. The zero value knows nothing and is ready. It is safe for concurrent
// use.
type Seen struct {
	mu     sync.Mutex
	byName map[string]sight // by the name without links
	names  map[workspace.FileID]string
}

type sight struct {
	id      workspace.FileID
	version workspace.Version
}

// A knowledge is what an agent knows of a file as it is now.
type knowledge int

const (
	// unseen files were never read or written.
	unseen knowledge = iota
	// current is what was read or written last.
	current
	// stale files have changed since.
	stale
)

// saw remembers a file as it was read or written.
func (s *Seen) saw(name string, id workspace.FileID, version workspace.Version) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byName == nil {
		s.byName = make(map[string]sight)
		s.names = make(map[workspace.FileID]string)
	}
	s.forgetLocked(name)
	s.byName[name] = sight{id, version}
	if id != (workspace.FileID{}) {
		s.names[id] = name
	}
}

// forget is for a file that is gone.
func (s *Seen) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked(name)
}

func (s *Seen) forgetLocked(name string) {
	if old, known := s.byName[name]; known && s.names[old.id] == name {
		delete(s.names, old.id)
	}
	delete(s.byName, name)
}

// of tells what the agent knows of a file that is about to be changed.
func (s *Seen) of(w *workspace.Workspace, t *workspace.Target) knowledge {
	s.mu.Lock()
	byName, named := s.byName[t.Name]
	other, known := s.names[t.ID]
	byID := s.byName[other]
	s.mu.Unlock()
	switch {
	case named && byName.version == t.Version, known && byID.version == t.Version:
		return current
	case named:
		return stale
	case known && sameFile(w, t.Name, other):
		return stale // it was read by another of its names
	}
	// The number of a file that is gone may have come to a new one.
	return unseen
}

// sameFile tells whether two names stand for one file.
func sameFile(w *workspace.Workspace, a, b string) bool {
	x, errA := w.Stat(a)
	y, errB := w.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}
