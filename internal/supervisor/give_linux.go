package supervisor

import (
	"errors"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// clockTick is the resolution of the clock that marks files, at the coarsest.
const clockTick = 10 * time.Millisecond

// fileClock tells the time by the clock that marks files. A file that is
// changed after this call is not marked with an earlier time.
func fileClock() int64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now) != nil {
		return time.Now().Add(-clockTick).UnixNano()
	}
	return now.Nano()
}

// give gives the files below a folder that were made or changed since a time
// to the owner.
//
// It is done while other processes may change the folder, so everything is
// reached by handles, never by a path of more than one name, and no link is
// followed. What a process moves around cannot leave the folder: it is a mount,
// and there is no rename and no hard link from one mount to another.
func give(g Giving, bound time.Duration) Given {
	giver := giver{Giving: g, end: time.Now().Add(bound)}
	fd, err := unix.Open(string(g.Root), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return Given{Refused: 1}
	}
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) == nil {
		giver.device = stat.Dev
		giver.top(fd, &stat)
	}
	giver.folder(fd)
	return giver.given
}

// A giver is one Give under way.
type giver struct {
	Giving
	device uint64 // of the folder; other file systems below it are not entered
	end    time.Time
	given  Given
}

// top gives the folder itself back to whom it belonged to.
func (g *giver) top(fd int, stat *unix.Stat_t) {
	if g.Top == nil || int(stat.Uid) == g.Top.UID && int(stat.Gid) == g.Top.GID {
		return
	}
	if unix.Fchown(fd, g.Top.UID, g.Top.GID) != nil {
		g.given.Refused++
		return
	}
	g.given.Count++
}

// idsOf tells whom a path belongs to, nil where that cannot be told.
func idsOf(path string) *Ids {
	var stat unix.Stat_t
	if unix.Stat(path, &stat) != nil {
		return nil
	}
	return &Ids{UID: int(stat.Uid), GID: int(stat.Gid)}
}

// folder looks at everything in a folder, and closes it.
func (g *giver) folder(fd int) {
	defer unix.Close(fd)
	buf := make([]byte, 8<<10)
	var names []string
	for {
		n, err := unix.ReadDirent(fd, buf)
		if err != nil && !errors.Is(err, unix.ENOENT) { // removed meanwhile
			g.given.Refused++
		}
		if err != nil || n <= 0 {
			return
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names[:0])
		for _, name := range names {
			if time.Now().After(g.end) {
				g.given.Late = true
				return
			}
			g.entry(fd, name)
		}
	}
}

// entry looks at one name in a folder.
func (g *giver) entry(dir int, name string) {
	var stat unix.Stat_t
	if unix.Fstatat(dir, name, &stat, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return // gone meanwhile
	}
	if stat.Dev != g.device {
		return
	}
	if stat.Ctim.Nano() >= g.Since && (g.foreign(stat.Uid, stat.Gid) || privileged(stat.Mode) != 0) {
		g.own(dir, name)
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		return
	}
	sub, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	switch {
	case err == nil:
		g.folder(sub)
	case !gone(err):
		g.given.Refused++
	}
}

// gone tells that a name is not what it was a moment ago.
func gone(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

func (g *giver) foreign(uid, gid uint32) bool {
	return int(uid) != g.Owner.UID || int(gid) != g.Owner.GID
}

// privileged are the bits of a mode that make a program run as somebody else.
func privileged(mode uint32) uint32 {
	if mode&unix.S_IFMT != unix.S_IFREG {
		return 0
	}
	bits := mode & unix.S_ISUID
	if mode&unix.S_IXGRP != 0 {
		bits |= mode & unix.S_ISGID // without the other it marks a lock
	}
	return bits
}

// own gives one file to the owner, and takes from it what would make it run as
// somebody else. The handle makes sure that what is decided on is what is
// changed.
func (g *giver) own(dir int, name string) {
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		if !gone(err) {
			g.given.Refused++
		}
		return
	}
	defer unix.Close(fd)
	var stat unix.Statx_t
	if unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &stat) != nil {
		g.given.Refused++
		return
	}
	mode := uint32(stat.Mode)
	if g.foreign(stat.Uid, stat.Gid) {
		if !g.mayGive(&stat) {
			g.given.Kept++
			return
		}
		if chown(fd, g.Owner) != nil {
			g.given.Refused++
			return
		}
		g.given.Count++
	}
	// The change of owner took the bits already, unless it was not needed or
	// the kernel leaves them to root.
	bits := privileged(mode)
	if bits == 0 {
		return
	}
	if unix.Chmod(handle(fd), mode&0o7777&^bits) != nil {
		g.given.Refused++
	}
}

// chown changes the owner of what a handle stands for, a link included. gVisor
// takes such a handle only by its name in /proc.
func chown(fd int, owner Ids) error {
	err := unix.Fchownat(fd, "", owner.UID, owner.GID, unix.AT_EMPTY_PATH)
	if errors.Is(err, unix.EBADF) {
		err = unix.Chown(handle(fd), owner.UID, owner.GID)
	}
	return err
}

// handle is the path that leads to what a handle stands for, wherever that is.
func handle(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// mayGive tells whether a file of somebody else may be given away: one that
// was there before the sandbox and has a second name may be a file that is
// none of the workspace's.
func (g *giver) mayGive(stat *unix.Statx_t) bool {
	if uint32(stat.Mode)&unix.S_IFMT == unix.S_IFDIR || stat.Nlink == 1 {
		return true
	}
	born := stat.Btime.Sec*int64(time.Second) + int64(stat.Btime.Nsec)
	return stat.Mask&unix.STATX_BTIME != 0 && born >= g.Since
}

// giveLast ends every other process in the container and then gives the files.
// It is PID 1's last work, and returns its exit code.
func giveLast(g Giving) int {
	end := time.Now().Add(LastGiveBound)
	var t table
	for time.Now().Before(end) {
		_ = rawKill(-1, unix.SIGKILL)
		reap()
		t.read()
		if !t.others() {
			break
		}
		pause(5)
	}
	given := give(g, time.Until(end))
	if t.others() || given.Late || given.Refused > 0 {
		return NotGiven
	}
	return 0
}

// others tells whether anything but PID 1 is alive.
func (t *table) others() bool {
	for _, p := range t.procs {
		if p.PID != 1 && p.alive() {
			return true
		}
	}
	return false
}
