package tools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/belljar/belljar/internal/output"
)

const (
	// sniffed is how much of a file decides whether it is text.
	sniffed = 8000
	// heldLine is how much of a line is held in memory: enough for
	// ReadLineChars characters of four bytes.
	heldLine = 16 << 10
	// longestLine is how far a line is read for its end. A sparse file costs its
	// owner nothing and may be one line of terabytes.
	longestLine = 64 << 20
	bom         = "\xef\xbb\xbf"
)

// errLongLine says that a line has no end within longestLine.
var errLongLine = errors.New("a line is too long")

// A lineReader reads lines of any length in bounded memory.
type lineReader struct{ r *bufio.Reader }

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReaderSize(r, 64<<10)} }

// A line is one line of a file, or the first part of it.
type line struct {
	text    string // without its end, at most heldLine bytes
	size    int64  // in bytes, without its end
	crlf    bool   // it ended in CRLF
	noEnd   bool   // the file ended before the line did
	endless bool   // it was not read to its end: it has more than size bytes
}

// part reads on within a line of which size bytes are read. whole tells that
// this is the end of it.
func (l *lineReader) part(ctx context.Context, size int64) (part []byte, whole bool, err error) {
	part, err = l.r.ReadSlice('\n')
	switch {
	case err == bufio.ErrBufferFull && ctx.Err() != nil:
		return nil, false, ctx.Err()
	case err == bufio.ErrBufferFull && size+int64(len(part)) > longestLine:
		return part, false, errLongLine
	case err == bufio.ErrBufferFull:
		return part, false, nil
	case err == io.EOF && size+int64(len(part)) > 0:
		return part, true, nil
	default:
		return part, true, err
	}
}

// skip reads one line and keeps nothing of it. It gives io.EOF when there is
// none, and errLongLine when it does not end.
func (l *lineReader) skip(ctx context.Context) error {
	size := int64(0)
	for {
		part, whole, err := l.part(ctx, size)
		if whole || err != nil {
			return err
		}
		size += int64(len(part))
	}
}

// next reads one line. It gives io.EOF when there is none.
func (l *lineReader) next(ctx context.Context) (line, error) {
	var (
		held []byte
		size int64
		end  [2]byte // the last two bytes
	)
	for {
		part, whole, err := l.part(ctx, size)
		if err != nil && err != errLongLine {
			return line{}, err
		}
		held = append(held, part[:min(len(part), heldLine+2-len(held))]...)
		size += int64(len(part))
		if err != nil {
			return line{text: string(held[:heldLine]), size: size, endless: true}, nil
		}
		for _, b := range part[max(len(part)-2, 0):] {
			end = [2]byte{end[1], b}
		}
		if whole {
			break
		}
	}
	got := line{noEnd: end[1] != '\n', crlf: end == [2]byte{'\r', '\n'}}
	got.size = size
	if !got.noEnd {
		got.size--
	}
	if got.crlf {
		got.size--
	}
	got.text = string(held[:min(int64(len(held)), got.size, heldLine)])
	return got, nil
}

// A page is the part of a file that one call shows.
type page struct {
	first int64 // the first line asked for
	limit int

	b         strings.Builder
	shown     int64 // lines
	bytes     int
	skipped   int64 // lines before the first
	empty     bool
	more      bool
	crlf, lf  bool
	spelled   bool
	clipped   bool
	bom       bool
	noNewline bool
	endless   bool  // the last line was not read to its end
	wide      bool  // the file is UTF-16
	lines     int64 // of the whole file, where more follow; 0 for not counted
	notes     []string
}

func (p *page) notef(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// read fills the page. An error is the context's, or wraps one of reading.
func (p *page) read(ctx context.Context, r *lineReader) error {
	if head, _ := r.r.Peek(len(bom)); string(head) == bom {
		p.bom = true
		if _, err := r.r.Discard(len(bom)); err != nil {
			return fmt.Errorf("skipping the byte order mark: %w", err)
		}
	}
	for p.skipped < p.first-1 {
		if p.skipped%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := r.skip(ctx); err == io.EOF {
			return nil
		} else if err == errLongLine {
			return fmt.Errorf("line %d is longer than %s and was not read to its end: use bash for what is after it",
				p.skipped+1, output.Size(longestLine))
		} else if err != nil {
			return fmt.Errorf("skipping lines: %w", err)
		}
		p.skipped++
	}
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := r.r.Peek(1); err == io.EOF {
			p.empty = p.skipped == 0 && p.shown == 0
			return nil
		}
		if p.shown == int64(p.limit) {
			return p.count(ctx, r, 0)
		}
		l, err := r.next(ctx)
		if err != nil {
			return fmt.Errorf("reading a line: %w", err)
		}
		added := p.add(l)
		switch {
		case l.endless:
			p.endless, p.more = added, !added
			return nil
		case !added:
			return p.count(ctx, r, 1)
		}
	}
}

// countedBytes bounds how far a file is read only to count its lines.
const countedBytes = 256 << 20

// count counts the lines that are not shown, of which some are read already.
func (p *page) count(ctx context.Context, r *lineReader, read int64) error {
	p.more = true
	total, far := p.skipped+p.shown+read, 0
	for open := false; far < countedBytes; {
		part, err := r.r.Peek(1)
		if err == nil {
			part, _ = r.r.Peek(r.r.Buffered())
		}
		if len(part) == 0 {
			if open {
				total++
			}
			if err == io.EOF {
				p.lines = total
			}
			return ctx.Err() // an error of reading is one of what was not asked for
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		total += int64(bytes.Count(part, []byte{'\n'}))
		open = part[len(part)-1] != '\n'
		far += len(part)
		if _, err := r.r.Discard(len(part)); err != nil {
			return ctx.Err()
		}
	}
	return nil
}

// add shows a line, unless the page is full.
func (p *page) add(l line) bool {
	text, used, spelled := visibleUpTo(l.text, ReadLineChars)
	if p.shown > 0 && p.bytes+len(text) > ReadBytes {
		return false
	}
	p.shown++
	p.bytes += len(text) + 1
	fmt.Fprintf(&p.b, "%6d\t%s", p.skipped+p.shown, text)
	if rest := l.size - int64(used); rest > 0 {
		least := ""
		if l.endless {
			least = "more than "
		}
		fmt.Fprintf(&p.b, "%s… %s%d more bytes in this line%s", spellOpen, least, rest, spellClose)
		p.clipped = true
	}
	p.b.WriteByte('\n')
	p.spelled = p.spelled || spelled
	p.crlf = p.crlf || l.crlf
	p.lf = p.lf || !l.crlf && !l.noEnd && !l.endless
	p.noNewline = l.noEnd
	return true
}

// result words the page, with what the text alone does not tell in brackets
// after it: the numbers before the lines keep the two apart.
func (p *page) result(path string) Result {
	if p.empty {
		return Text(fmt.Sprintf("[%s is empty]", visibleName(path)))
	}
	if p.shown == 0 {
		return Error(fmt.Sprintf("offset %d is past the end: %q has %s", p.first, path, output.Count(p.skipped, "line")))
	}
	last := p.skipped + p.shown
	if p.endless {
		p.notef("the file goes on after a line of more than %s, which was not read to its end: use bash for what is after it", output.Size(longestLine))
	} else if p.more {
		of := ""
		if p.lines > 0 {
			of = "; it has " + output.Count(p.lines, "line")
		}
		p.notef("the file goes on. Use offset=%d to read on%s", last+1, of)
	} else if p.noNewline {
		p.notef("there is no newline at the end of the file")
	}
	if p.crlf && p.lf {
		p.notef("some of these lines end in CRLF, others in LF")
	} else if p.crlf {
		p.notef("these lines end in CRLF")
	}
	if p.wide {
		p.notef("the file is UTF-16 and shown as UTF-8")
	}
	if p.bom {
		p.notef("the file starts with a byte order mark, which is not shown")
	}
	if p.spelled {
		p.notef(spelledNote)
	}
	if p.clipped {
		p.notef("lines are clipped after %d characters", ReadLineChars)
	}
	if len(p.notes) > 0 {
		p.b.WriteString("[" + strings.Join(p.notes, "]\n[") + "]\n")
	}
	return Text(p.b.String())
}
