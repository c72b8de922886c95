package output

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// bounded keeps the first head and the last tail characters of a valid text.
// The tail may hold up to twice its bound before it is trimmed, so that
// trimming costs a constant per byte.
type bounded struct {
	headMax, tailMax int // characters
	head, tail       []byte
	headLen, tailLen int // characters
	chars            int64
	bytes, lines     int64
}

func (b *bounded) put(p []byte) {
	n := utf8.RuneCount(p)
	b.chars += int64(n)
	b.bytes += int64(len(p))
	b.lines += int64(bytes.Count(p, []byte{'\n'}))
	if free := b.headMax - b.headLen; free > 0 {
		take := min(free, n)
		cut := offset(p, take)
		b.head = append(b.head, p[:cut]...)
		b.headLen += take
		p, n = p[cut:], n-take
	}
	if n > b.tailMax {
		p, n = last(p, n, b.tailMax), b.tailMax
		b.tail, b.tailLen = b.tail[:0], 0
	}
	b.tail = append(b.tail, p...)
	b.tailLen += n
	if b.tailLen > 2*b.tailMax {
		b.trim()
	}
}

// trim cuts the tail to its bound.
func (b *bounded) trim() {
	if b.tailLen > b.tailMax {
		b.tail = append(b.tail[:0], last(b.tail, b.tailLen, b.tailMax)...)
		b.tailLen = b.tailMax
	}
}

// add appends what other kept and counts what it did not. Both have the same
// bounds, so whatever other dropped is followed by a full tail, and nothing of
// b's own tail is left to join it to.
func (b *bounded) add(other *bounded) {
	other.trim()
	b.put(other.head)
	chars := other.chars - int64(other.headLen+other.tailLen)
	if chars > 0 {
		b.chars += chars
		b.bytes += other.bytes - int64(len(other.head)+len(other.tail))
		b.tail, b.tailLen = b.tail[:0], 0
	}
	b.put(other.tail)
}

func (b *bounded) reset() {
	b.head, b.tail = b.head[:0], b.tail[:0]
	b.headLen, b.tailLen, b.chars, b.bytes, b.lines = 0, 0, 0, 0, 0
}

func (b *bounded) clone() bounded {
	c := *b
	c.head, c.tail = slices.Clone(b.head), slices.Clone(b.tail)
	return c
}

// offset is where the character n of p starts.
func offset(p []byte, n int) int {
	i := 0
	for ; n > 0; n-- {
		if p[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, size := utf8.DecodeRune(p[i:])
		i += size
	}
	return i
}

// last is the last max of the n characters of p.
func last(p []byte, n, max int) []byte {
	if len(p) == n { // all ASCII
		return p[n-max:]
	}
	return p[offset(p, n-max):]
}
