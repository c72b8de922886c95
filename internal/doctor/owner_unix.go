//go:build unix

package doctor

import (
	"io/fs"
	"syscall"
)

// ownerOf says by number whom a file belongs to.
func ownerOf(info fs.FileInfo) (uid, gid int, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(stat.Uid), int(stat.Gid), true
}
