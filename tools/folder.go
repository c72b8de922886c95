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
