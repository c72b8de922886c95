package diskusage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// blockSize is the unit of st_blocks, see stat(2).
const blockSize = 512

// Measure looks at every file below a folder. It takes about 2 µs for each, so
// the caller decides how often. It ends early with the context's cause.
func Measure(ctx context.Context, dir string, since time.Time) (Usage, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return Usage{}, fmt.Errorf("measuring %s: %w", dir, err)
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		unix.Close(fd)
		return Usage{}, fmt.Errorf("measuring %s: %w", dir, err)
	}
	w := walker{
		tally: tally{since: since, sums: map[string]int64{}, full: map[string]int64{}}, ctx: ctx,
		device: stat.Dev, linked: map[uint64]bool{},
	}
	w.folder(fd, ".", 0)
	if ctx.Err() != nil {
		return Usage{}, context.Cause(ctx)
	}
	return w.end(), nil
}

// A walker is one Measure under way.
type walker struct {
	tally
	ctx    context.Context // of the one call, which ends before this is let go
	device uint64
	linked map[uint64]bool // files with several names that were counted
}

// maxDepth bounds how deep folders are looked into. Each costs an open file and
// a path, and a command can make them as deep as it likes. What lies deeper is
// hidden.
const maxDepth = 256

// folder counts what is in a folder of the given depth, and closes it.
func (w *walker) folder(fd int, path string, depth int) {
	defer unix.Close(fd)
	buf := make([]byte, 8<<10)
	var names []string
	for w.ctx.Err() == nil {
		n, err := unix.ReadDirent(fd, buf)
		if err != nil || n <= 0 {
			return
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names[:0])
		for _, name := range names {
			w.entry(fd, path, name, depth)
		}
	}
}

// entry counts one name in a folder.
func (w *walker) entry(dir int, path, name string, depth int) {
	var stat unix.Stat_t
	if unix.Fstatat(dir, name, &stat, unix.AT_SYMLINK_NOFOLLOW) != nil || stat.Dev != w.device {
		return
	}
	folder := stat.Mode&unix.S_IFMT == unix.S_IFDIR
	changed := time.Unix(stat.Ctim.Unix())
	if folder || stat.Nlink == 1 || !w.linked[stat.Ino] {
		w.add(path, name, stat.Blocks*blockSize, changed)
	}
	if !folder {
		if stat.Nlink > 1 {
			w.linked[stat.Ino] = true
		}
		return
	}
	if depth == maxDepth {
		if !changed.Before(w.since) {
			w.usage.Hidden++
		}
		return
	}
	sub, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	switch {
	case err == nil:
		w.folder(sub, join(path, name), depth+1)
	case !errors.Is(err, unix.ENOENT) && !changed.Before(w.since):
		w.usage.Hidden++
	}
}

// Inodes tells how many files a folder's file system has, 0 where it does not
// count them.
func Inodes(dir string) (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, fmt.Errorf("asking for the files at %s: %w", dir, err)
	}
	return int64(stat.Files - stat.Ffree), nil
}

// Space tells how many bytes of a folder's file system are taken, and how many
// the caller may still write.
func Space(dir string) (used, free int64, err error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, 0, fmt.Errorf("asking for the space at %s: %w", dir, err)
	}
	size := int64(stat.Bsize)
	return int64(stat.Blocks-stat.Bfree) * size, int64(stat.Bavail) * size, nil
}
