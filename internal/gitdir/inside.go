package gitdir

import (
	"io/fs"
	"path"
	"path/filepath"
)

// Inside finds a path that git is given, absolute or from the folder from,
// which is relative to the host path dir, and tells whether it lies in dir. The
// path need not exist. Links in it count only where it is absolute and lies
// elsewhere by name, since one of them may lead back in.
func Inside(dir, from, name string) (at string, ok bool) {
	if !filepath.IsAbs(name) {
		at = path.Join(from, name)
		return at, fs.ValidPath(at)
	}
	if at, ok = relative(dir, name); ok {
		return at, true
	}
	// What is not there yet has a folder.
	for rest := ""; ; rest, name = filepath.Join(filepath.Base(name), rest), filepath.Dir(name) {
		if real, err := filepath.EvalSymlinks(name); err == nil {
			return relative(dir, filepath.Join(real, rest))
		}
		if name == filepath.Dir(name) {
			return "", false
		}
	}
}

// relative is a host path as seen from dir.
func relative(dir, name string) (at string, ok bool) {
	rel, err := filepath.Rel(dir, name)
	if err != nil {
		return "", false
	}
	at = filepath.ToSlash(rel)
	return at, fs.ValidPath(at)
}
