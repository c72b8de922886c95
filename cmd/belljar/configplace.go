package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/sandbox"
)

// maxLinks bounds the links on the way to a file, as systems do.
const maxLinks = 40

// reach follows the links on the way to a file or a folder, and gives the place
// itself. It refuses one that what runs in the sandbox could change: by its name,
// by what a link leads to, or by a link that leads on from there. What names it for
// the error.
func reach(what, file string, spec *sandbox.Spec) (string, error) {
	writable := []string{spec.Workspace}
	for _, m := range spec.Mounts {
		if !m.ReadOnly {
			writable = append(writable, m.Source)
		}
	}
	root := filepath.VolumeName(file) + string(filepath.Separator)
	at, rest := root, strings.TrimPrefix(file, root)
	for links := 0; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, string(filepath.Separator))
		next := filepath.Join(at, name)
		for _, dir := range writable {
			if dir != "" && isBelow(next, dir) {
				return "", refusedf("%s lies in or leads through %s, where what runs in the sandbox could change it; put it elsewhere, or give --config none", what, dir)
			}
		}
		info, err := os.Lstat(next)
		if err != nil {
			return "", err
		}
		if at = next; info.Mode()&os.ModeSymlink == 0 {
			continue
		}
		target, err := os.Readlink(next)
		if links++; err == nil && links > maxLinks {
			err = fmt.Errorf("%s leads over more than %d links", file, maxLinks)
		}
		if err != nil {
			return "", err
		}
		if at = filepath.Dir(next); filepath.IsAbs(target) {
			root := filepath.VolumeName(target) + string(filepath.Separator)
			at, target = root, strings.TrimPrefix(target, root)
		}
		rest = strings.TrimSuffix(target, string(filepath.Separator)) + string(filepath.Separator) + rest
		rest = strings.TrimSuffix(rest, string(filepath.Separator))
	}
	return at, nil
}

// readOnce reads a file of up to so many bytes. real is its place, "" for a pipe
// that is open, as a shell gives it. A pipe with a name is not waited for, and
// what was put there since is not taken for it.
func readOnce(file, real string, most int64) ([]byte, error) {
	before, err := os.Stat(file)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: file, Err: errors.Unwrap(err)}
	}
	if real != "" && !before.Mode().IsRegular() && !before.IsDir() {
		return nil, fmt.Errorf("%s is no file", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if after, err := f.Stat(); err != nil || !os.SameFile(before, after) {
		return nil, errors.Join(err, fmt.Errorf("%s was replaced while it was read", file))
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s is larger than %s", file, output.Size(most))
	}
	return data, err
}
