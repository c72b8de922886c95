// Package workspace is the host's side of the folder that a sandbox works on.
//
// Untrusted code in the sandbox changes the folder at any time, while tools on
// the host read and write in it. So every access goes through one [os.Root] and
// the handles made from it: nothing is checked by name and opened afterwards,
// and no host path is ever put together from what a model or a link says.
//
// A path is either relative to the workspace or absolute as seen inside the
// sandbox, which is under the mount point or under that of a further folder.
// Links are resolved as the sandbox would resolve them, step by step; one that
// leads elsewhere is refused.
package workspace

import (
	"errors"
	"fmt"
	"os"
	"path"
	"sync"

	"github.com/belljar/belljar/sandbox"
)

// A Workspace is an open workspace, with the further folders that the sandbox
// sees. All methods but Add are safe for concurrent use; those that write run
// one after another.
type Workspace struct {
	home    *mounted   // the workspace itself
	further []*mounted // where the sandbox sees other folders
	owner   sandbox.Owner
	// protected are the paths of the workspace that are not written, see Protect.
	protected []string
	// repositories are the folders of which nothing that git obeys is written.
	repositories []string
	// write serialises writers, so that two edits of one file through two
	// names cannot lose one of them.
	write sync.Mutex
	// renamer puts files in place.
	renamer renamer
}

// A mounted is a folder of the host where the sandbox sees it.
type mounted struct {
	root     *os.Root
	path     string
	readOnly bool
}

// openMounted opens the folder abs, which the sandbox sees at target.
func openMounted(abs, target string, readOnly bool) (*mounted, error) {
	if !path.IsAbs(target) || path.Clean(target) != target || target == "/" {
		return nil, fmt.Errorf("mount point %q is not an absolute clean path below the root", target)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, err
	}
	return &mounted{root: root, path: target, readOnly: readOnly}, nil
}

// Open opens the folder at the host path abs, which the sandbox sees at mount,
// an absolute clean path other than the root. New files and folders follow the
// owner's umask and, when the process is root, belong to the owner. The caller
// closes the workspace.
func Open(abs, mount string, owner sandbox.Owner) (*Workspace, error) {
	home, err := openMounted(abs, mount, false)
	if err != nil {
		return nil, fmt.Errorf("opening workspace: %w", err)
	}
	return &Workspace{home: home, owner: owner, renamer: renamer{swap: swapNames, new: renameNew, link: (*os.Root).Link}}, nil
}

// Add opens one more folder that the sandbox sees, so that paths may lead there
// too. Nothing is written in one that is mounted read-only. It must not be
// called beside other methods.
func (w *Workspace) Add(m sandbox.Mount) error {
	added, err := openMounted(m.Source, m.Target, m.ReadOnly)
	if err != nil {
		return fmt.Errorf("opening a mounted folder: %w", err)
	}
	w.further = append(w.further, added)
	return nil
}

// Mount is where the sandbox sees the workspace.
func (w *Workspace) Mount() string { return w.home.path }

// Further are where the sandbox sees the other folders: all of them, or those
// alone that can be written.
func (w *Workspace) Further(writable bool) []string {
	var paths []string
	for _, m := range w.further {
		if !writable || !m.readOnly {
			paths = append(paths, m.path)
		}
	}
	return paths
}

// mountedAt finds the folder that is mounted at a path, or nil.
func (w *Workspace) mountedAt(name string) *mounted {
	if name == w.home.path {
		return w.home
	}
	for _, m := range w.further {
		if name == m.path {
			return m
		}
	}
	return nil
}

// Close releases the folders. Calls after it fail with an error that wraps
// [os.ErrClosed].
func (w *Workspace) Close() error {
	err := w.home.root.Close()
	for _, m := range w.further {
		err = errors.Join(err, m.root.Close())
	}
	return err
}
