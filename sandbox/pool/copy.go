package pool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/belljar/belljar/sandbox"
)

// A Content brings what is to be worked on into the empty folder dir. No process
// of the sandbox runs yet.
type Content func(ctx context.Context, dir string) error

// ErrInside is a copy that would hold itself.
var ErrInside = errors.New("the copy would be inside the folder itself")

// CopyOf copies a folder. Files, folders and links keep their names, modes and
// times; links stay links and are not followed; what is none of these is left
// out. The copies belong to the owner. Nothing outside the folder is read, also
// when it changes meanwhile. A dir inside it is [ErrInside].
func CopyOf(from string, owner sandbox.Owner) Content {
	return func(ctx context.Context, dir string) error {
		if !filepath.IsAbs(from) {
			return fmt.Errorf("copying %q: it is not an absolute path", from)
		}
		source, err := os.OpenRoot(from)
		if err != nil {
			return fmt.Errorf("copying a folder: %w", err)
		}
		defer source.Close()
		target, err := os.OpenRoot(dir)
		if err != nil {
			return fmt.Errorf("copying a folder: %w", err)
		}
		defer target.Close()
		c := &copier{ctx: ctx, from: source, to: target, owner: owner}
		if c.top, err = target.Stat("."); err == nil {
			err = outside(source, dir)
		}
		if err == nil {
			err = c.folder(".")
		}
		if err != nil {
			return fmt.Errorf("copying %s: %w", from, err)
		}
		return nil
	}
}

// outside looks before anything is copied whether dir is inside of source.
func outside(source *os.Root, dir string) error {
	from, err := source.Stat(".")
	if err != nil {
		return err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	for {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if os.SameFile(info, from) {
			return ErrInside
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil
		}
		dir = parent
	}
}

// A copier copies one tree. It lives within one call, whose context it holds.
type copier struct {
	ctx      context.Context
	from, to *os.Root
	top      fs.FileInfo // of to
	owner    sandbox.Owner
}

// folder copies what is in a folder, and last its mode and time: a folder that
// may not be written could not be filled.
func (c *copier) folder(name string) error {
	dir, err := c.open(name)
	if err != nil {
		return err
	}
	info, err := dir.Stat()
	var entries []fs.DirEntry
	if err == nil {
		entries, err = dir.ReadDir(-1)
	}
	dir.Close()
	if err != nil {
		return err
	}
	if os.SameFile(info, c.top) { // a mount can have it here although its path is another one
		return ErrInside
	}
	for _, entry := range entries {
		if c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		if err := c.entry(filepath.Join(name, entry.Name()), entry.Type()); err != nil {
			return err
		}
	}
	return c.finish(name, info)
}

// entry copies one thing in a folder.
func (c *copier) entry(name string, kind fs.FileMode) error {
	switch kind {
	case fs.ModeDir:
		if err := c.to.Mkdir(name, 0o700); err != nil {
			return err
		}
		return c.folder(name)
	case fs.ModeSymlink:
		target, err := c.from.Readlink(name)
		if err != nil {
			return err
		}
		if err := c.to.Symlink(target, name); err != nil {
			return err
		}
		return c.give(name)
	case 0:
		return c.file(name)
	default:
		return nil
	}
}

// file copies a regular file. It may have become something else meanwhile.
func (c *copier) file(name string) error {
	in, err := c.open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	out, err := c.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in) // by the kernel where it can
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return c.finish(name, info)
}

// open opens a file or folder to read; a pipe that took its place does not
// block.
func (c *copier) open(name string) (*os.File, error) {
	return c.from.OpenFile(name, os.O_RDONLY|nonblock, 0)
}

// finish gives a copy its owner, mode and time.
func (c *copier) finish(name string, info fs.FileInfo) error {
	if err := c.give(name); err != nil {
		return err
	}
	if err := c.to.Chmod(name, info.Mode().Perm()); err != nil {
		return err
	}
	return c.to.Chtimes(name, info.ModTime(), info.ModTime())
}

func (c *copier) give(name string) error {
	return give(c.owner, func(uid, gid int) error { return c.to.Lchown(name, uid, gid) })
}
