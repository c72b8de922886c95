package tools

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/internal/workspace"
)

const (
	listedNames = 200
	// readNames bounds what is read of a folder, so that one with millions of
	// files costs neither memory nor time.
	readNames = 10_000
)

// names reads the names in a folder, in order, and tells whether that is all
// of them. Folders end in a slash, links in an at sign.
func names(f *workspace.File) (list []string, all bool, err error) {
	for len(list) < readNames {
		entries, err := f.ReadDir(1000)
		for _, e := range entries {
			mark := ""
			switch {
			case e.IsDir():
				mark = "/"
			case e.Type()&fs.ModeSymlink != 0:
				mark = "@"
			}
			list = append(list, e.Name()+mark)
		}
		if err == io.EOF {
			all = true
			break
		}
		if err != nil {
			return nil, false, err
		}
	}
	slices.Sort(list)
	return list, all, nil
}

// listFolder answers the reading of a folder with what is in it.
func listFolder(f *workspace.File, asked string) Result {
	list, all, err := names(f)
	if err != nil {
		return Error(fmt.Sprintf("reading folder %q: %v", asked, cause(err)))
	}
	count := output.Count(int64(len(list)), "name")
	if !all {
		count = "more than " + count
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[%s is a folder with %s; / marks folders, @ links]\n", visibleName(asked), count)
	for _, name := range list[:min(len(list), listedNames)] {
		b.WriteString(visibleName(name) + "\n")
	}
	if len(list) > listedNames || !all {
		fmt.Fprintf(&b, "[the first %d are shown; use glob for more]\n", min(len(list), listedNames))
	}
	return Text(b.String())
}

// similar suggests names near to one that does not exist, from the same
// folder.
func similar(w *workspace.Workspace, asked string) string {
	dir, base := path.Split(path.Clean(asked))
	if dir == "" {
		dir = "."
	}
	f, err := w.Open(dir)
	if err != nil {
		return ""
	}
	defer f.Close()
	if !f.Info.IsDir() {
		return ""
	}
	list, _, err := names(f)
	if err != nil {
		return ""
	}
	type candidate struct {
		name string
		far  int
	}
	var near []candidate
	for _, name := range list {
		name = strings.TrimRight(name, "/@")
		if far := distance(base, name); far <= max(2, len(base)/3) {
			near = append(near, candidate{name, far})
		}
	}
	if len(near) == 0 {
		return ""
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.far - b.far })
	const most = 3
	var quoted []string
	for _, c := range near[:min(len(near), most)] {
		quoted = append(quoted, visibleName(path.Join(dir, c.name)))
	}
	return "; did you mean " + strings.Join(quoted, " or ") + "?"
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
