package tools

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/belljar/belljar/internal/search"
	"github.com/belljar/belljar/internal/workspace"
)

const (
	// suggestions is how many paths are suggested for one that is missing.
	suggestions = 3
	// suggestTime bounds the search for them.
	suggestTime = 300 * time.Millisecond
	// suggestDepth is how many missing folders are looked through for one that
	// may have been meant.
	suggestDepth = 16
)

// A candidate is a path that may have been meant, and how far it is from what
// was asked for.
type candidate struct {
	path string
	far  int
}

// similar suggests paths near to one that does not exist: names like it beside
// it, or the same name in other folders.
func similar(ctx context.Context, w *workspace.Workspace, asked string) string {
	near := beside(w, asked)
	if len(near) == 0 {
		near = elsewhere(ctx, w, asked)
	}
	if len(near) == 0 {
		return ""
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.far - b.far })
	var quoted []string
	for _, c := range near[:min(len(near), suggestions)] {
		quoted = append(quoted, visibleName(c.path))
	}
	return "; did you mean " + strings.Join(quoted, " or ") + "?"
}

// beside are the paths like a missing one. Where a folder on the way is missing
// they have one like it, and the rest as it was asked for.
func beside(w *workspace.Workspace, asked string) []candidate {
	dir, base := parent(asked)
	rest := ""
	f, err := w.Open(dir)
	for depth := 0; errors.Is(err, fs.ErrNotExist) && depth < suggestDepth; depth++ {
		rest = path.Join(base, rest)
		dir, base = parent(dir)
		f, err = w.Open(dir)
	}
	if err != nil {
		return nil
	}
	defer f.Close()
	if !f.Info.IsDir() {
		return nil
	}
	list, _, err := entries(f)
	if err != nil {
		return nil
	}
	var near []candidate
	for _, e := range list {
		far, found := distance(base, e.Name()), path.Join(dir, e.Name(), rest)
		if far > max(2, len(base)/3) {
			continue
		}
		if _, err := w.Stat(found); err == nil || rest == "" {
			near = append(near, candidate{found, far})
		}
	}
	return near
}

// parent splits a path into the folder and the name in it.
func parent(name string) (dir, base string) {
	dir, base = path.Split(path.Clean(name))
	if dir == "" {
		dir = "."
	}
	return dir, base
}

// elsewhere are the newest files of the same name in all folders.
func elsewhere(ctx context.Context, w *workspace.Workspace, asked string) []candidate {
	ctx, cancel := context.WithTimeout(ctx, suggestTime)
	defer cancel()
	found, err := search.Find(ctx, w, search.GlobOptions{Pattern: unmarked(path.Base(path.Clean(asked))), Limit: suggestions})
	if err != nil {
		return nil
	}
	var same []candidate
	for _, f := range found.Found {
		same = append(same, candidate{path: f.Path})
	}
	return same
}

// distance is the number of letters to change, add or drop between two names,
// case left aside. Names of very different length are simply far.
func distance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if diff := len(a) - len(b); diff > 8 || diff < -8 || len(a) > 255 {
		return 255
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
