package tools

import (
	"fmt"
	"strings"
)

const (
	// maxHeaders is how many headers a chunk may have: each is looked for in
	// the whole file.
	maxHeaders = 20
	// maxHeaded is how many lines may be like one.
	maxHeaded = 10_000
)

// starts are the places behind the headers of a chunk, the start of the text
// where it has none. A header is a line, or how one starts, its indentation
// left aside. note says where one is only the start of a word.
func (c chunk) starts(s *subject) (starts []int, note string, err error) {
	starts = []int{0}
	for _, header := range c.headers {
		found := s.behind(header, starts[0])
		if found.likeness == notLike {
			return nil, "", answer(fmt.Sprintf("there is no line %q in it for the %s of the chunk. %s", header, patchHunk, s.nearest(header)))
		}
		if len(found.ends) > maxHeaded {
			return nil, "", answer(fmt.Sprintf("the line %q stands in it more than %d times, and cannot say where the chunk goes: leave it out, or name another line", header, maxHeaded))
		}
		if found.likeness == startsWord {
			note = fmt.Sprintf("no line is %q, nor does one start with these words; a line that starts with a longer one was taken for %s", header, patchHunk)
		}
		starts = found.ends
	}
	return starts, note, nil
}

// A headerAt is a header that is looked for from a place on, the start of a line.
type headerAt struct {
	header string
	from   int
}

// headed are the ends of the lines that are most like a header.
type headed struct {
	ends     []int
	likeness int
}

// behind finds the lines that are most like a header from a place on, one more
// than may be at most. Chunks of one patch often have the same.
func (s *subject) behind(header string, from int) headed {
	key := headerAt{header, from}
	if found, known := s.headed[key]; known {
		return found
	}
	var best headed
	for best.likeness < isLine || len(best.ends) <= maxHeaded {
		// Where a line starts with the header, that is its first place in it.
		i := strings.Index(s.text[from:], header)
		if i < 0 {
			break
		}
		begin := from + strings.LastIndexByte(s.text[from:from+i], '\n') + 1
		end := len(s.text)
		if n := strings.IndexByte(s.text[from+i:], '\n'); n >= 0 {
			end = from + i + n + 1
		}
		line := s.text[begin:end]
		if begin == 0 {
			line = strings.TrimPrefix(line, bom)
		}
		likeness := isLike(line, header)
		if likeness > best.likeness {
			best = headed{likeness: likeness}
		}
		if likeness == best.likeness && likeness > notLike && len(best.ends) <= maxHeaded {
			best.ends = append(best.ends, end)
		}
		from = end
	}
	if s.headed == nil {
		s.headed = make(map[headerAt]headed)
	}
	s.headed[key] = best
	return best
}

// How like a line is to a header.
const (
	notLike    = iota
	startsWord // it starts so, in the middle of a word
	startsLine // it starts so
	isLine
)

func isLike(line, header string) int {
	line = strings.TrimSpace(line)
	switch {
	case line == header:
		return isLine
	case !strings.HasPrefix(line, header):
		return notLike
	case border(line, len(header)):
		return startsLine
	}
	return startsWord
}
