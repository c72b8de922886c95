//go:build !linux

package docker

// ownProcesses is a limit that any engine of this machine may set; it is not
// known elsewhere than on Linux.
func ownProcesses() (limit int64, known bool) { return 0, false }

// ownLimit is not known either.
func ownLimit(_ string, unknown int64) int64 { return unknown }
