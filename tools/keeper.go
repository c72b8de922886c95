package tools

import (
	"io"

	"github.com/belljar/belljar/internal/output"
)

// A Keeper keeps the whole output of a command where the model can read it. A
// tool that gets one as the writer of its raw output names the place whenever
// it shows less than all.
type Keeper interface {
	// Close writes what is held back; it may be called more than once.
	io.WriteCloser
	// Kept tells of what was kept so far.
	Kept() Kept
}

// A Kept is an output that was kept.
type Kept struct {
	// Path is the file as the sandbox sees it; "" means that there is none.
	Path string
	// Bytes and Lines count what is in the file.
	Bytes, Lines int64
	// Cut is set when the file holds only the beginning.
	Cut bool
}

// lines name the file, in at most one line; cut tells that the keeper was not
// given all.
func (k Kept) lines(cut bool) []note {
	if k.Path == "" {
		return nil
	}
	what := "full output"
	if cut || k.Cut {
		what = "the beginning of the output"
	}
	return []note{notef("%s: %s, %s, %s; read_file, grep and sed can read it",
		what, passing(k.Path), output.Count(k.Bytes, "byte"), output.Count(k.Lines, "line"))}
}
