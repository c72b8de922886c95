package tools

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/belljar/belljar/internal/workspace"
)

// maxNamed is the length of the longest path in bytes that is looked at for
// spellings: the longest that a system call takes.
const maxNamed = 4096

// named is the path that a model means. What is there under the name that a
// spelling stands for comes first, since that is how the tools show it; a name
// that is not there is as it was written, so that a new file is called what the
// model called it. Folders on the way are named in the same way, one by one.
func named(w *workspace.Workspace, path string) string {
	if meant := unspell(path); meant == path || len(meant) > maxNamed {
		return path
	}
	var real string
	for part := range strings.SplitAfterSeq(path, "/") {
		if meant := unspell(part); meant != part {
			if _, err := w.Stat(real + meant); !errors.Is(err, fs.ErrNotExist) {
				part = meant
			}
		}
		real += part
	}
	return real
}

// namedAll is a pattern of names in which each spelling is the byte that it
// stands for, and no mark of a pattern.
func namedAll(pattern string) string {
	return spellings.ReplaceAllStringFunc(pattern, func(spelled string) string {
		return unmarked(unspell(spelled))
	})
}

// unmarked is the pattern of one name.
func unmarked(name string) string {
	var pattern strings.Builder
	for _, c := range []byte(name) {
		if strings.IndexByte(`*?[]{}\`, c) >= 0 {
			pattern.WriteByte('\\')
		}
		pattern.WriteByte(c)
	}
	return pattern.String()
}
