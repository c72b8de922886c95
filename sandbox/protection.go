package sandbox

import (
	"fmt"
	"io/fs"
	"slices"
)

// A Protection names what of a workspace commands may not change. Paths are
// relative to the workspace, with slashes and without links, and what they
// name must exist. The zero value protects nothing.
type Protection struct {
	// Fixed are folders that can be neither renamed nor removed, so that what
	// is protected in them cannot be walked around. Their content is free.
	Fixed []string `json:"fixed"`
	// ReadOnly are files, and folders with all they hold, that can be neither
	// changed, renamed nor removed. Each folder on the way to one is among
	// Fixed.
	ReadOnly []string `json:"read_only"`
}

// Empty tells whether nothing is protected.
func (p Protection) Empty() bool { return len(p.Fixed) == 0 && len(p.ReadOnly) == 0 }

// Check says which path cannot be one of a workspace.
func (p Protection) Check() error {
	for _, name := range slices.Concat(p.Fixed, p.ReadOnly) {
		if !fs.ValidPath(name) || name == "." {
			return fmt.Errorf("the path %q cannot be protected: it is not one below the workspace", name)
		}
	}
	return nil
}
