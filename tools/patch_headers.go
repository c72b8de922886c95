package tools

import (
	"fmt"
	"strings"
)

// starts are the places behind the headers of a chunk, the start of the text
// where it has none. A header is a line, or how one starts, its indentation
// left aside. note says where one is only the start of a word.
func (c chunk) starts(s *subject) (starts []int, note string, err error) {
	starts = []int{0}
	for _, header := range c.headers {
		var next []int
		at := starts[0]
		likeness := headerLikeness(s.text[at:], header)
		for line := range strings.SplitAfterSeq(s.text[at:], "\n") {
			at += len(line)
			if likeness > notLike && isLike(line, header) == likeness {
				next = append(next, at)
			}
		}
		if next == nil {
			return nil, "", answer(fmt.Sprintf("there is no line %q in it for the %s of the chunk. %s", header, patchHunk, s.nearest(header)))
		}
		if likeness == startsWord {
			note = fmt.Sprintf("no line is %q, nor does one start with these words; a line that starts with a longer one was taken for %s", header, patchHunk)
		}
		starts = next
	}
	return starts, note, nil
}

// How like a line is to a header.
const (
	notLike    = iota
	startsWord // it starts so, in the middle of a word
	startsLine // it starts so
	isLine
)

// headerLikeness is the best there is in a text.
func headerLikeness(text, header string) int {
	best := notLike
	for line := range strings.SplitSeq(text, "\n") {
		if best = max(best, isLike(line, header)); best == isLine {
			break
		}
	}
	return best
}

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
