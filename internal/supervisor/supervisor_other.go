//go:build !linux

package supervisor

// Main cannot serve here: containers are Linux.
func Main([]string) int { return 125 }
