// Package workspace is the host's side of the folder that a sandbox works on.
//
// Untrusted code in the sandbox changes the folder at any time, while tools on
// the host read and write in it. So every access goes through one [os.Root] and
// the handles made from it: nothing is checked by name and opened afterwards,
// and no host path is ever put together from what a model or a link says.
//
// A path is either relative to the workspace or absolute as seen inside the
// sandbox, which is under the mount point. Links are resolved as the sandbox
// would resolve them, step by step; one that leads elsewhere is refused.
package workspace

import (
	"fmt"
	"os"
	"path"
	"sync"

	"github.com/belljar/belljar/sandbox"
)

// A Workspace is an open workspace. All methods are safe for concurrent use;
// those that write run one after another.
type Workspace struct {
	root  *os.Root
	mount string
	owner sandbox.Owner
	// write serialises writers, so that two edits of one file through two
	// names cannot lose one of them.
	write sync.Mutex
}

// Open opens the folder at the host path abs, which the sandbox sees at mount,
// an absolute clean path other than the root. New files and folders follow the
// owner's umask and, when the process is root, belong to the owner. The caller
// closes the workspace.
func Open(abs, mount string, owner sandbox.Owner) (*Workspace, error) {
	if !path.IsAbs(mount) || path.Clean(mount) != mount || mount == "/" {
		return nil, fmt.Errorf("opening workspace: mount point %q is not an absolute clean path below the root", mount)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("opening workspace: %w", err)
	}
	return &Workspace{root: root, mount: mount, owner: owner}, nil
}

// Mount is where the sandbox sees the workspace.
func (w *Workspace) Mount() string { return w.mount }

// Close releases the folder. Calls after it fail with an error that wraps
// [os.ErrClosed].
func (w *Workspace) Close() error { return w.root.Close() }
