package tools

import (
	"fmt"
	"io"
	"io/fs"
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

// entries reads what is in a folder, in the order of the names, and tells
// whether that is all.
func entries(f *workspace.File) (list []fs.DirEntry, all bool, err error) {
	for len(list) < readNames {
		more, err := f.ReadDir(1000)
		list = append(list, more...)
		if err == io.EOF {
			all = true
			break
		}
		if err != nil {
			return nil, false, err
		}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, all, nil
}

// listed shows a name in a folder. A folder ends in a slash, a link in an at
// sign.
func listed(e fs.DirEntry) string {
	switch {
	case e.IsDir():
		return visibleName(e.Name() + "/")
	case e.Type()&fs.ModeSymlink != 0:
		return visibleName(e.Name() + "@")
	default:
		return visibleName(e.Name())
	}
}

// listFolder answers the reading of a folder with what is in it.
func listFolder(f *workspace.File, asked string) Result {
	list, all, err := entries(f)
	if err != nil {
		return Error(fmt.Sprintf("reading folder %q: %v", asked, cause(err)))
	}
	count := output.Count(int64(len(list)), "name")
	if !all {
		count = "more than " + count
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[%s is a folder with %s; / marks folders, @ links]\n", visibleName(asked), count)
	for _, e := range list[:min(len(list), listedNames)] {
		b.WriteString(listed(e) + "\n")
	}
	if len(list) > listedNames || !all {
		fmt.Fprintf(&b, "[the first %d are shown; use glob for more]\n", min(len(list), listedNames))
	}
	return Text(b.String())
}
