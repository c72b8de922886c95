package search

import (
	"bytes"
	"context"
	"io"

	"github.com/belljar/belljar/internal/utf16text"
)

const (
	// maxWindow is how much of a file is in memory at a time. A file that is
	// larger is searched in pieces that end with a line; what is Multiline is
	// not searched in it, and a line that is longer is several.
	maxWindow = 4 << 20
	// firstWindow is what a scanner begins with: most files fit in.
	firstWindow = 64 << 10
	// sniffed is how much of a file decides whether it is text.
	sniffed = 8000
)

// A scanner searches one file after the other, for one goroutine.
type scanner struct {
	ctx   context.Context
	opts  GrepOptions
	match *matcher
	buf   []byte

	searched, binary, tooLarge, pieced int64
}

func newScanner(ctx context.Context, opts GrepOptions) *scanner {
	return &scanner{ctx: ctx, opts: opts, match: opts.Pattern.matcher(ctx), buf: make([]byte, firstWindow)}
}

// file searches a file that is said to have a size. An error is one of reading;
// what was found before it counts.
func (s *scanner) file(r io.Reader, size int64) (FileMatch, error) {
	n, end, err := s.fill(r, 0, size)
	if err != nil {
		return FileMatch{}, err
	}
	order, wide := utf16text.Order(s.buf[:n])
	if !wide && bytes.IndexByte(s.buf[:min(n, sniffed)], 0) >= 0 {
		s.binary++
		return FileMatch{}, nil
	}
	if !end && s.opts.Pattern.multiline {
		s.tooLarge++
		return FileMatch{}, nil
	}
	if wide {
		r = utf16text.NewReader(io.MultiReader(bytes.NewReader(s.buf[:n]), r), order)
		s.buf = make([]byte, len(s.buf)) // the reader has the other one
		if n, end, err = s.fill(r, 0, 0); err != nil {
			return FileMatch{}, err
		}
		if !end && s.opts.Pattern.multiline {
			s.tooLarge++
			return FileMatch{}, nil
		}
	}
	s.searched++
	g := &gatherer{opts: &s.opts}
	n = copy(s.buf, bytes.TrimPrefix(s.buf[:n], []byte("\xef\xbb\xbf")))
	if end {
		s.window(g, s.buf[:n], true)
		return g.found, nil
	}
	return g.found, s.pieces(g, r, n)
}

// fill reads more after what the buffer holds, until the end of the file or of
// the largest window. Reading as much as the file's size is taken for the end:
// asking once more would cost each small file as much again.
func (s *scanner) fill(r io.Reader, have int, size int64) (n int, end bool, err error) {
	n = have
	for {
		if n == len(s.buf) {
			if n >= maxWindow {
				return n, false, nil
			}
			grown := make([]byte, min(max(2*len(s.buf), int(min(size+1, maxWindow))), maxWindow))
			copy(grown, s.buf[:n])
			s.buf = grown
		}
		more, err := r.Read(s.buf[n:])
		n += more
		if err == io.EOF || err == nil && size > 0 && int64(n-have) == size {
			return n, true, nil
		}
		if err != nil {
			return n, false, err
		}
	}
}

// pieces searches a file that is larger than a window, of which the first n
// bytes are read.
func (s *scanner) pieces(g *gatherer, r io.Reader, n int) error {
	pieced := false
	for end := false; ; {
		whole := n
		// A line that takes half of the window is cut, so that each window
		// gets further than what is kept of the last.
		if last := bytes.LastIndexByte(s.buf[:n], '\n'); last >= maxWindow/2 && !end {
			whole = last + 1
		} else if !end && !pieced {
			pieced = true
			s.pieced++
		}
		if !s.window(g, s.buf[:whole], end) || end || s.ctx.Err() != nil {
			return nil
		}
		kept := g.shift(s.buf[:whole])
		copy(s.buf, s.buf[kept:n])
		var err error
		if n, end, err = s.fill(r, n-kept, 0); err != nil {
			return err
		}
	}
}

// window searches a text that ends with a line, from where the last one ended.
// It tells whether to go on.
func (s *scanner) window(g *gatherer, text []byte, last bool) bool {
	s.match.reset(text)
	for at := g.searched; ; {
		found, ok := s.match.find(at)
		if !ok || s.ctx.Err() != nil {
			break
		}
		g.found.Total++
		at = found.next
		switch s.opts.Mode {
		case Names:
			return false
		case Content:
			g.take(text, found)
		}
	}
	if s.opts.Mode == Content {
		g.trail(text, len(text))
	}
	g.searched = len(text)
	return true
}
