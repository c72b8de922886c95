package docker

import (
	"fmt"
	"path"
	"strings"

	"github.com/belljar/belljar/internal/output"
)

// reason says in one line what grew.
func (w *diskWatch) reason(grown diskAmount) string {
	if grown.bytes < w.limit.bytes {
		return w.filesReason(grown.files)
	}
	var names []string
	for _, p := range w.parts {
		for _, entry := range p.largest {
			names = append(names, fmt.Sprintf("%q (%s)", p.pathOf(entry.Path), output.Size(entry.Bytes)))
		}
	}
	return mostIn(fmt.Sprintf("%s were added in this sandbox", output.Size(grown.bytes)), names)
}

// filesReason says it of their number.
func (w *diskWatch) filesReason(files int64) string {
	var names []string
	for _, p := range w.parts {
		for _, folder := range p.fullest {
			names = append(names, fmt.Sprintf("%q (%d)", p.pathOf(folder.Path), folder.Files))
		}
	}
	return mostIn(fmt.Sprintf("%d files were added in this sandbox, and with this disk limit %d may be", files, w.limit.files), names)
}

// pathOf is the path inside of something in the place.
func (p *diskPart) pathOf(name string) string { return path.Join("/", p.shown, name) }

func mostIn(text string, names []string) string {
	if len(names) == 0 {
		return text
	}
	return text + ", most of it in " + strings.Join(names, ", ")
}
