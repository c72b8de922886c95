package diskusage

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// onlyMemory are file systems whose files take no disk, see statfs(2).
const (
	hugePages = 0x958458f6
	ramFiles  = 0x858458f6
)

// Deleted tells of each file on disk that has no name any more and that one of
// the processes still has open or mapped, where it was, as its mounts name it,
// and how many bytes it takes. Each is told once. Of a process that the caller
// may not look into nothing is told, nor of a file that only a message under
// way holds.
func Deleted(ctx context.Context, processes []int, tell func(path string, bytes int64)) {
	d := deleted{seen: map[[2]uint64]bool{}, tell: tell}
	for _, pid := range processes {
		top := filepath.Join("/proc", strconv.Itoa(pid))
		d.folder(ctx, filepath.Join(top, "fd"))
		if mapsDeleted(filepath.Join(top, "maps")) {
			d.folder(ctx, filepath.Join(top, "map_files"))
		}
	}
}

// mapsDeleted tells whether a process has a mapped file without a name, which
// is cheaper to see than to look at each of them.
func mapsDeleted(maps string) bool {
	text, err := os.ReadFile(maps)
	return err == nil && strings.Contains(string(text), deletedMark+"\n")
}

// deletedMark is behind the name of what has none any more, see proc_pid_fd(5).
const deletedMark = " (deleted)"

// A deleted is one Deleted under way.
type deleted struct {
	seen map[[2]uint64]bool // by device and inode
	tell func(string, int64)
}

// folder looks at the links of one folder of a process.
func (d *deleted) folder(ctx context.Context, dir string) {
	handle, err := os.Open(dir)
	if err != nil {
		return
	}
	defer handle.Close()
	for ctx.Err() == nil {
		names, err := handle.Readdirnames(256)
		for _, name := range names {
			d.link(filepath.Join(dir, name))
		}
		if err != nil {
			return
		}
	}
}

// link looks at what one link leads to.
func (d *deleted) link(link string) {
	var stat unix.Stat_t
	if unix.Stat(link, &stat) != nil || stat.Nlink > 0 || stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return
	}
	key := [2]uint64{stat.Dev, stat.Ino}
	var fs unix.Statfs_t
	if d.seen[key] || unix.Statfs(link, &fs) != nil {
		return
	}
	switch fs.Type {
	case unix.TMPFS_MAGIC, hugePages, ramFiles:
		return
	}
	d.seen[key] = true
	path, _ := os.Readlink(link) // a path may be too long to be told
	d.tell(strings.TrimSuffix(path, deletedMark), stat.Blocks*blockSize)
}
