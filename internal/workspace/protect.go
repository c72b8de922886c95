package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/belljar/belljar/sandbox"
)

// Names in a git repository's folder.
const (
	gitDir   = ".git"
	gitHooks = gitDir + "/hooks"
)

// gitFiles are the files of a repository that make git run programs, or take
// its configuration from elsewhere, on whatever machine it is used.
func gitFiles() []string {
	return []string{gitDir + "/config", gitDir + "/config.worktree", gitDir + "/commondir"}
}

// maxHooks bounds how many hooks are looked at for further names.
const maxHooks = 1000

// GitProtection tells what must be protected so that commands cannot plant what
// git on the host obeys: the repository at the root of the workspace at the
// host path abs stays where it is, with its hooks and its configuration. Hooks
// that are missing are made, as an empty folder of the owner, which stays. A
// workspace without a repository has nothing to protect.
//
// notes say, a line each, what of the repository cannot be held. The error says
// that the repository is none that can be protected at all: a link, or one with
// a link or a special file in the place of its parts. Nothing is opened that
// could block and no link is followed.
func GitProtection(abs string, owner sandbox.Owner) (p sandbox.Protection, notes []string, err error) {
	root, err := os.OpenRoot(abs)
	if err != nil {
		return p, nil, fmt.Errorf("opening workspace: %w", err)
	}
	defer root.Close()
	info, err := root.Lstat(gitDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, nil, nil
	case err != nil:
		return p, nil, fmt.Errorf("looking at %s: %w", gitDir, err)
	case info.Mode().IsRegular():
		// The repository of a worktree or a submodule, which lies elsewhere.
		p.ReadOnly = []string{gitDir}
		return p, moreNames(nil, gitDir, info), nil
	case !info.IsDir():
		return p, nil, cannotProtect(gitDir, "a folder", info)
	}
	p.Fixed = []string{gitDir}
	for _, name := range gitFiles() {
		info, err := root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return p, nil, fmt.Errorf("looking at %s: %w", name, err)
		case !info.Mode().IsRegular():
			return p, nil, cannotProtect(name, "a regular file", info)
		}
		p.ReadOnly = append(p.ReadOnly, name)
		notes = moreNames(notes, name, info)
	}
	found, err := hooksFolder(root, owner)
	if err != nil {
		return p, nil, err
	}
	if found {
		p.ReadOnly = append(p.ReadOnly, gitHooks)
		notes = append(notes, hooksNotes(root)...)
	}
	return p, notes, nil
}

// cannotProtect says what stands in the place of a part of the repository.
func cannotProtect(name, want string, info fs.FileInfo) error {
	return fmt.Errorf("%s in the workspace is %s, not %s, and cannot be protected from what runs inside: put it right, or go on without with --protect=false",
		name, typeName(info.Mode()), want)
}

// moreNames adds a note about a file that may have a second name, under which
// it can be written.
func moreNames(notes []string, name string, info fs.FileInfo) []string {
	if linkCount(info) < 2 {
		return notes
	}
	return append(notes, name+" has a second name (a hard link), under which it can be changed; a copy in its place would have none")
}

// hooksFolder makes the folder of hooks where it is missing, since one that is
// not there cannot be kept from being made. Where it cannot be made the owner
// cannot make it either.
func hooksFolder(root *os.Root, owner sandbox.Owner) (found bool, err error) {
	info, err := root.Lstat(gitHooks)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeHooks(root, owner); errors.Is(err, fs.ErrPermission) || errors.Is(err, errReadOnly) {
			return false, nil
		} else if err != nil {
			return false, fmt.Errorf("making the folder %s: %w", gitHooks, err)
		}
		info, err = root.Lstat(gitHooks)
	}
	switch {
	case err != nil:
		return false, fmt.Errorf("looking at %s: %w", gitHooks, err)
	case !info.IsDir():
		return false, cannotProtect(gitHooks, "a folder", info)
	}
	return true, nil
}

func makeHooks(root *os.Root, owner sandbox.Owner) error {
	git, err := root.OpenRoot(gitDir + "/.")
	if err != nil {
		return err
	}
	defer git.Close()
	return makeFolder(git, path.Base(gitHooks), owner)
}

// hooksNotes tells which hooks have second names.
func hooksNotes(root *os.Root) (notes []string) {
	dir, err := root.Open(gitHooks + "/.")
	if err != nil {
		return nil // what is not to be read here is not the user's to run
	}
	defer dir.Close()
	entries, err := dir.ReadDir(maxHooks)
	if err != nil {
		return nil // an empty folder
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			notes = moreNames(notes, gitHooks+"/"+entry.Name(), info)
		}
	}
	return notes
}
