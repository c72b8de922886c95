// Package output bounds and cleans what programs write, while it comes and in
// memory that does not grow with it.
//
// Cleaning makes text that can be stored, shown and sent to a model as it is:
// valid UTF-8 with no control character but tab and newline, no escape
// sequence, and of a line that was redrawn through carriage returns only the
// last state. Bounding keeps the head (40 %) and the tail (60 %), never cuts
// inside a character, and says what is missing.
package output

import (
	"bytes"
	"unicode/utf8"
)

// Clean returns the cleaned text of p. Cleaning a cleaned text changes nothing.
func Clean(p []byte) string {
	var (
		c   cleaner
		out whole
	)
	c.write(p, &out)
	c.flush(&out)
	return out.buf.String()
}

// whole is a sink that keeps everything.
type whole struct {
	buf  bytes.Buffer
	line int // where the current line starts
}

func (w *whole) text(p []byte) {
	if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
		w.line = w.buf.Len() + i + 1
	}
	w.buf.Write(p)
}

func (w *whole) clear() { w.buf.Truncate(w.line) }

// incomplete is the number of bytes at the end of p that begin a character and
// do not finish it.
func incomplete(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if b := p[len(p)-n]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(p[len(p)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
