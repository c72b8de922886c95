package guard

import (
	"errors"
	"io"
	"iter"
	"runtime"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// maxFrames is the depth of the stack at which a script nests too deeply. The
// parser calls itself for each level, and for each line of a block of comments, and
// a stack that overflows ends the whole process, which nothing can recover.
const maxFrames = 6000

// errTooMuch ends the reading of a script.
var errTooMuch = errors.New("reading a script: it nests too deeply, or takes too long")

// A boundedReader hands a script to the parser, which asks for more whenever it
// has read a kilobyte: in the middle of whatever it is in, so the stack shows how
// deep that is.
type boundedReader struct {
	rest  *strings.Reader
	until time.Time
}

var _ io.Reader = (*boundedReader)(nil)

func (r *boundedReader) Read(p []byte) (int, error) {
	var frame [1]uintptr
	if runtime.Callers(maxFrames, frame[:]) > 0 || time.Now().After(r.until) {
		return 0, errTooMuch
	}
	return r.rest.Read(p)
}

// statements gives the statements of a script, each as soon as it is read, up to
// where the script is wrong.
func (l *look) statements(script string) iter.Seq[*syntax.Stmt] {
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash))
	return func(yield func(*syntax.Stmt) bool) {
		for stmt, err := range parser.StmtsSeq(&boundedReader{strings.NewReader(script), l.until}) {
			if err != nil || !yield(stmt) {
				return
			}
		}
	}
}
