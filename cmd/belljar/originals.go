package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/belljar/belljar/internal/tripwire"
	"github.com/belljar/belljar/sandbox"
)

const (
	// originals is the folder of a session with the content of changed files as
	// it was before the run, and the one of the state folder with such folders
	// of commands that have no session.
	originals = "originals"
	// keptCommands is of how many commands those are kept, of each up to what
	// tripwire keeps, 16 MiB.
	keptCommands = 20
)

// A keeper writes what files held before to a folder, which is made for the
// first of them.
type keeper struct {
	folder func() (string, error)
	dir    string // "" before the first
	count  int
}

// keep writes what a file held and gives the path. The name is not the file's
// own, which is not to be trusted.
func (k *keeper) keep(change tripwire.Change) (string, error) {
	if k.dir == "" {
		dir, err := k.folder()
		if err != nil {
			return "", err
		}
		k.dir = dir
	}
	k.count++
	file := filepath.Join(k.dir, strconv.Itoa(k.count))
	if err := os.WriteFile(file, change.Original, 0o600); err != nil {
		return "", err
	}
	return file, os.Chmod(file, change.Was.Perm())
}

// commandKeeper keeps what files held before a command without a session. A
// state folder that the sandbox could come to is none to keep them in.
func commandKeeper(spec sandbox.Spec) *keeper {
	return &keeper{folder: func() (string, error) {
		state, err := stateDirFor(spec.Workspace, spec.Mounts)
		if err != nil {
			return "", err
		}
		return makeOriginals(state)
	}}
}

// makeOriginals makes a folder for the files of one command below a state
// folder, and removes the oldest of others where there are too many.
func makeOriginals(state string) (string, error) {
	all := filepath.Join(state, originals)
	if err := os.MkdirAll(all, 0o700); err != nil {
		return "", fmt.Errorf("making a folder for what files held: %w", err)
	}
	// The first letters order them by time.
	dir, err := os.MkdirTemp(all, time.Now().UTC().Format("20060102-150405.000000")+"-*")
	if err != nil {
		return "", fmt.Errorf("making a folder for what files held: %w", err)
	}
	entries, err := os.ReadDir(all)
	if err != nil {
		return dir, nil // the next command will remove what is too much
	}
	form := regexp.MustCompile(`^\d{8}-\d{6}\.\d{6}-\d+$`)
	var old []string
	for _, entry := range entries {
		if name := entry.Name(); form.MatchString(name) && name != filepath.Base(dir) {
			old = append(old, name)
		}
	}
	for _, name := range old[:max(0, len(old)-keptCommands+1)] {
		_ = os.RemoveAll(filepath.Join(all, name)) // and so again
	}
	return dir, nil
}
