package tripwire

import (
	"io/fs"
	"syscall"
)

// inode is the number of a file and when it was changed last in any way, which
// no program can set; zeros where it is not known.
func inode(info fs.FileInfo) (number, changed uint64) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino, uint64(stat.Ctim.Nano())
	}
	return 0, 0
}
