package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belljar/belljar/internal/gitdir"
)

// maxLeading is how much is read of a file that leads git to another folder.
const maxLeading = 16 << 10

// fix keeps a folder, and those it lies in, from being renamed away. Commands
// could put a link in the place of one that is none.
func (g *gitHold) fix(dir string) error {
	if dir == "." {
		return nil // a mount point by itself
	}
	if err := g.fix(path.Dir(dir)); err != nil {
		return err
	}
	info, err := g.root.Lstat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("looking at %s: %w", dir, err)
	case !info.IsDir():
		return cannotProtect(dir, "a folder", info)
	}
	if !slices.Contains(g.p.Fixed, dir) {
		g.p.Fixed = append(g.p.Fixed, dir)
	}
	return nil
}

// follow holds the repository that a file in the folder from leads git to, if it
// lies in the workspace: elsewhere commands cannot reach it.
func (g *gitHold) follow(from, file string, target func([]byte) (string, bool)) error {
	content, err := g.read(file)
	if errors.Is(err, fs.ErrPermission) {
		return nil // the owner's git cannot read it either
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	to, ok := target(content)
	if !ok {
		return nil // git takes nothing from it
	}
	at, inside := gitdir.Inside(g.abs, from, to)
	really, err := g.resolve(from, to)
	linked := g.isLinked(from, to)
	switch {
	case !inside && really == "" && !linked:
		return nil
	case errors.Is(err, fs.ErrNotExist) && !linked:
		g.notes = append(g.notes, fmt.Sprintf("%s leads git to %q in the workspace, where nothing is: commands can make it", file, at))
		return nil
	case err != nil && !linked:
		return fmt.Errorf("looking at what %s leads git to: %w", file, err)
	case linked, at != really:
		return fmt.Errorf("%s in the workspace leads git to %q by way of a link, and that repository cannot be protected from what runs inside: name it without, or go on without with --protect=false",
			file, to)
	case slices.Contains(g.held, at):
		return nil
	}
	return g.repository(at)
}

// isLinked tells whether a path goes through a link in the workspace, which
// commands can lead elsewhere.
func (g *gitHold) isLinked(from, to string) bool {
	to = filepath.ToSlash(to)
	if rest, ok := strings.CutPrefix(to, filepath.ToSlash(g.abs)+"/"); ok {
		from, to = ".", rest
	} else if path.IsAbs(to) {
		return false
	}
	for _, part := range split(to) {
		if from == "." && part == ".." {
			return false // it leaves the workspace
		}
		from = path.Join(from, part)
		if info, err := g.root.Lstat(from); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// resolve is where a path really leads git, from the workspace; "" where that is
// elsewhere.
func (g *gitHold) resolve(from, to string) (string, error) {
	if !filepath.IsAbs(to) {
		// Not cleaned: what .. means depends on the links before it.
		to = strings.Join([]string{g.abs, filepath.FromSlash(from), to}, string(filepath.Separator))
	}
	abs, err := filepath.EvalSymlinks(g.abs)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(to)
	if err != nil {
		return "", err
	}
	if at, ok := gitdir.Inside(abs, ".", real); ok {
		return at, nil
	}
	return "", nil
}

// read takes the beginning of a regular file.
func (g *gitHold) read(name string) ([]byte, error) {
	f, err := g.root.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	return io.ReadAll(io.LimitReader(f, maxLeading))
}
