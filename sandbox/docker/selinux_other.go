//go:build !linux

package docker

// labelOf is "": only Linux has such labels.
func labelOf(string) string { return "" }
