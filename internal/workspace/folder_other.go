//go:build !linux

package workspace

import "os"

// openDirectory takes over root, unless it fails.
func openDirectory(root *os.Root) (directory, error) { return openRootDirectory(root) }
