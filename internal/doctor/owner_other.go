//go:build !unix

package doctor

import "io/fs"

// ownerOf says that files have no owners here.
func ownerOf(fs.FileInfo) (uid, gid int, known bool) { return 0, 0, false }
