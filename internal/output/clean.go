package output

import "unicode/utf8"

// A sink takes cleaned text, newlines included. clear takes back the current
// line, which is what came after the last newline.
type sink interface {
	text(p []byte)
	clear()
}

// replacement stands for a byte that is not UTF-8.
const replacement = "\uFFFD"

// state is where a cleaner is in an escape sequence.
type state uint8

const (
	ground  state = iota
	escape        // after ESC
	inter         // after ESC and intermediate bytes
	control       // in a control sequence, after ESC [
	str           // in a string: OSC, DCS, SOS, PM, APC
	strEsc        // after ESC in a string
)

// A cleaner turns raw bytes into cleaned text. What it gives does not depend on
// how the bytes are cut into chunks. Its memory is a few bytes.
type cleaner struct {
	state state
	// redraw is set after a carriage return: the next character starts the
	// line anew, while a newline just ends it.
	redraw bool
	part   [utf8.UTFMax]byte // the beginning of a character
	n      int               // how much of part there is
}

func (c *cleaner) write(p []byte, out sink) {
	for c.n > 0 && len(p) > 0 {
		c.part[c.n] = p[0]
		c.n++
		p = p[1:]
		c.drain(out)
	}
	for len(p) > 0 {
		if c.state == ground && !c.redraw {
			if n := plainPrefix(p); n > 0 {
				out.text(p[:n])
				p = p[n:]
				continue
			}
		}
		if !utf8.FullRune(p) {
			c.n = copy(c.part[:], p)
			return
		}
		r, size := utf8.DecodeRune(p)
		c.step(r, p[:size], out)
		p = p[size:]
	}
}

// drain takes the characters that part holds in full.
func (c *cleaner) drain(out sink) {
	for c.n > 0 && utf8.FullRune(c.part[:c.n]) {
		part := c.part
		r, size := utf8.DecodeRune(part[:c.n])
		c.n = copy(c.part[:], part[size:c.n])
		c.step(r, part[:size], out)
	}
}

// flush ends the text: the beginning of a character stands for itself then.
func (c *cleaner) flush(out sink) {
	for n := c.n; n > 0; n-- {
		c.step(utf8.RuneError, nil, out)
	}
	c.n = 0
}

// plainPrefix is the length of the leading run of printable ASCII, tabs and
// newlines, which is most of all output and needs no look at single characters.
func plainPrefix(p []byte) int {
	for i, b := range p {
		if (b < ' ' && b != '\t' && b != '\n') || b >= 0x7f {
			return i
		}
	}
	return len(p)
}

// step takes one character, whose bytes are p. Sequences are those of ECMA-48
// as terminals read them. One that is broken off by something that cannot be
// part of it is dropped, and that something is kept: a stray introducer in
// binary data must not swallow the text after it.
func (c *cleaner) step(r rune, p []byte, out sink) {
	switch c.state {
	case ground:
		c.plain(r, p, out)
	case escape:
		switch {
		case r == '[':
			c.state = control
		case r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_':
			c.state = str
		case r >= ' ' && r <= '/':
			c.state = inter
		case r >= '0' && r <= '~':
			c.state = ground
		default:
			c.abort(r, p, out)
		}
	case inter:
		switch {
		case r >= ' ' && r <= '/':
		case r >= '0' && r <= '~':
			c.state = ground
		default:
			c.abort(r, p, out)
		}
	case control:
		switch {
		case r >= ' ' && r <= '?':
		case r >= '@' && r <= '~':
			c.state = ground
			if r == 'K' && c.redraw { // erase the line
				out.clear()
			}
		default:
			c.abort(r, p, out)
		}
	case str:
		c.inString(r, p, out)
	case strEsc:
		if r == '\\' {
			c.state = ground
			return
		}
		c.state = escape
		c.step(r, p, out)
	}
}

// inString takes one character of a string, which ends by its terminator, by
// BEL or a cancel as terminals allow, and at the end of the line, so that one
// without an end costs no more than its line.
func (c *cleaner) inString(r rune, p []byte, out sink) {
	switch r {
	case 0x1b:
		c.state = strEsc
	case 0x07, 0x18, 0x1a, 0x9c:
		c.state = ground
	case '\n':
		c.abort(r, p, out)
	}
}

func (c *cleaner) abort(r rune, p []byte, out sink) {
	c.state = ground
	c.plain(r, p, out)
}

// plain takes one character outside of sequences.
func (c *cleaner) plain(r rune, p []byte, out sink) {
	switch {
	case r == '\n':
		c.redraw = false
		out.text(p)
	case r == '\r':
		c.redraw = true
	case r == 0x1b:
		c.state = escape
	case r == 0x9b:
		c.state = control
	case r == 0x90 || r == 0x98 || r >= 0x9d && r <= 0x9f:
		c.state = str
	case r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0:
		// Other control characters say nothing in a text.
	default:
		if c.redraw {
			c.redraw = false
			out.clear()
		}
		if r == utf8.RuneError && len(p) < len(replacement) {
			p = []byte(replacement)
		}
		out.text(p)
	}
}
