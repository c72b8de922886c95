package guard

import (
	"context"
	"errors"
	"io"
	"iter"
	"runtime"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// maxFrames is the depth of the stack at which a script nests too deeply. The
// parser calls itself for each level, and for each line of a block of comments, and
// a stack that overflows ends the whole process, which nothing can recover.
const maxFrames = 6000

// maxUnclosed bounds the here-documents of a script that have no end.
const maxUnclosed = 8

// errTooMuch ends the reading of a script.
var errTooMuch = errors.New("reading a script: it nests too deeply, or takes too long")

// A boundedReader hands a script to the parser, which asks for more whenever it
// has read a kilobyte: in the middle of whatever it is in, so the stack shows how
// deep that is.
type boundedReader struct {
	rest io.Reader
	over func() bool
}

var _ io.Reader = (*boundedReader)(nil)

func (r *boundedReader) Read(p []byte) (int, error) {
	var frame [1]uintptr
	if runtime.Callers(maxFrames, frame[:]) > 0 || r.over() {
		return 0, errTooMuch
	}
	return r.rest.Read(p)
}

// late tells whether the look has had its time.
func late(ctx context.Context, until time.Time) bool {
	return ctx.Err() != nil || time.Now().After(until)
}

// statements gives the statements of a script as they are read, up to where the
// script is wrong. A here-document that has no end goes to that of the script,
// as it does for a shell.
func (l *look) statements(script string) iter.Seq[*syntax.Stmt] {
	return func(yield func(*syntax.Stmt) bool) {
		given, ends := 0, ""
		for range maxUnclosed {
			n := 0
			err := l.parse(io.MultiReader(strings.NewReader(script), strings.NewReader(ends)), func(s *syntax.Stmt) bool {
				if n++; n <= given {
					return true
				}
				given = n
				return yield(s)
			})
			end, open := unclosed(err)
			if !open {
				return
			}
			ends += "\n" + end + "\n"
		}
	}
}

// unclosed gives the word that would end a here-document.
func unclosed(err error) (end string, ok bool) {
	var wrong syntax.ParseError
	if !errors.As(err, &wrong) {
		return "", false
	}
	quoted, ok := strings.CutPrefix(wrong.Text, "unclosed here-document ")
	if !ok {
		return "", false
	}
	end, err = strconv.Unquote(quoted)
	return end, err == nil
}

// parse gives the statements of a script, those of one line together: what stands
// in a here-document is read after all of its line. The error is what ended the
// reading, nil where yield did; those before a here-document that has no end are
// not given.
func (l *look) parse(r io.Reader, yield func(*syntax.Stmt) bool) error {
	var (
		kept    []*syntax.Stmt
		line    uint // the last of what is kept
		wrong   error
		stopped bool
	)
	flush := func() {
		for _, s := range kept {
			stopped = stopped || !yield(s)
		}
		kept = nil
	}
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash))
	all := parser.StmtsSeq(&boundedReader{r, func() bool { return late(l.ctx, l.until) }})
	// It is no range: the parser goes on to its error after it was told to stop,
	// at which a range panics.
	all(func(s *syntax.Stmt, err error) bool {
		if stopped {
			return false
		}
		if s != nil {
			if s.Pos().Line() > line {
				flush()
			}
			kept, line = append(kept, s), s.End().Line()
		}
		if err != nil {
			wrong = err
		}
		return !stopped && err == nil
	})
	if _, open := unclosed(wrong); !open && !stopped {
		flush()
	}
	if stopped {
		return nil
	}
	return wrong
}
