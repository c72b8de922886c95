package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/belljar/belljar/internal/gitdir"
	"github.com/belljar/belljar/sandbox"
)

// maxHooks bounds how many hooks are looked at for further names.
const maxHooks = 1000

// GitProtection tells what must be protected so that commands cannot plant what
// git on the host obeys: the repository at the root of the workspace at the
// host path abs stays where it is, with its hooks and its configuration; so do
// repositories in the workspace that a file .git or commondir leads git to.
// Hooks that are missing are made, as an empty folder of the owner, which stays.
// A workspace without a repository has nothing to protect.
//
// notes say, a line each, what of the repository cannot be held. The error says
// that the repository is none that can be protected at all: a link, or one with
// a link or a special file in the place of its parts. Nothing is opened that
// could block and no link is followed.
func GitProtection(abs string, owner sandbox.Owner) (sandbox.Protection, []string, error) {
	root, err := os.OpenRoot(abs)
	if err != nil {
		return sandbox.Protection{}, nil, fmt.Errorf("opening workspace: %w", err)
	}
	defer root.Close()
	g := &gitHold{root: root, abs: abs, owner: owner}
	info, err := root.Lstat(gitdir.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return g.p, nil, nil
	case err != nil:
		return g.p, nil, fmt.Errorf("looking at %s: %w", gitdir.Name, err)
	case info.Mode().IsRegular():
		// The repository of a worktree or a submodule.
		g.readOnly(gitdir.Name, info)
		err = g.follow(".", gitdir.Name, gitdir.Target)
	case info.IsDir():
		err = g.repository(gitdir.Name)
	default:
		err = cannotProtect(gitdir.Name, "a folder", info)
	}
	if err != nil {
		return sandbox.Protection{}, nil, err
	}
	return g.p, g.notes, nil
}

// A gitHold gathers what is held of a repository.
type gitHold struct {
	root  *os.Root
	abs   string // its host path
	owner sandbox.Owner
	p     sandbox.Protection
	notes []string
	held  []string // the folders of repositories
}

// readOnly holds a file or a folder, and notes where a file may have a second
// name, under which it can be written.
func (g *gitHold) readOnly(name string, info fs.FileInfo) {
	g.p.ReadOnly = append(g.p.ReadOnly, name)
	g.noteNames(name, info)
}

func (g *gitHold) noteNames(name string, info fs.FileInfo) {
	if info.Mode().IsRegular() && linkCount(info) >= 2 {
		g.notes = append(g.notes, name+" has a second name (a hard link), under which it can be changed; a copy in its place would have none")
	}
}

// repository holds the folder of a repository, and that of another one which it
// takes its configuration and hooks from.
func (g *gitHold) repository(dir string) error {
	g.held = append(g.held, dir)
	if err := g.fix(dir); err != nil {
		return err
	}
	for _, file := range gitdir.Configuration() {
		name := path.Join(dir, file)
		info, err := g.root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return fmt.Errorf("looking at %s: %w", name, err)
		case !info.Mode().IsRegular():
			return cannotProtect(name, "a regular file", info)
		}
		g.readOnly(name, info)
	}
	common := path.Join(dir, gitdir.Common)
	_, err := g.root.Lstat(common)
	led := err == nil
	if err := g.hooks(path.Join(dir, gitdir.Hooks), !led); err != nil || !led {
		return err
	}
	return g.follow(dir, common, gitdir.CommonTarget)
}

// cannotProtect says what stands in the place of a part of the repository.
func cannotProtect(name, want string, info fs.FileInfo) error {
	return fmt.Errorf("%s in the workspace is %s, not %s, and cannot be protected from what runs inside: put it right, or go on without with --protect=false",
		name, typeName(info.Mode()), want)
}

// hooks holds a folder of hooks. Where git looks for hooks there it is made when
// it is missing, since one that is not there cannot be kept from being made;
// where it cannot be made the owner cannot make it either.
func (g *gitHold) hooks(name string, looked bool) error {
	info, err := g.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		if !looked {
			return nil
		}
		if err := g.makeHooks(path.Dir(name)); errors.Is(err, fs.ErrPermission) || errors.Is(err, errReadOnly) {
			return nil
		} else if err != nil {
			return fmt.Errorf("making the folder %s: %w", name, err)
		}
		info, err = g.root.Lstat(name)
	}
	switch {
	case err != nil:
		return fmt.Errorf("looking at %s: %w", name, err)
	case !info.IsDir():
		return cannotProtect(name, "a folder", info)
	}
	g.readOnly(name, info)
	g.noteHooks(name)
	return nil
}

func (g *gitHold) makeHooks(dir string) error {
	git, err := g.root.OpenRoot(dir + "/.")
	if err != nil {
		return err
	}
	defer git.Close()
	return makeFolder(git, gitdir.Hooks, g.owner)
}

// noteHooks tells which hooks have second names.
func (g *gitHold) noteHooks(name string) {
	dir, err := g.root.Open(name + "/.")
	if err != nil {
		return // what is not to be read here is not the user's to run
	}
	defer dir.Close()
	entries, err := dir.ReadDir(maxHooks)
	if err != nil {
		return // an empty folder
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil {
			g.noteNames(path.Join(name, entry.Name()), info)
		}
	}
}
