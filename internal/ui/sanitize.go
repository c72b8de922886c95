package ui

import (
	"strings"
	"unicode/utf8"

	"github.com/belljar/belljar/internal/marks"
)

// sanitizeState is where a Sanitizer stands within an escape sequence.
type sanitizeState int

const (
	ground       sanitizeState = iota
	escape                     // after ESC
	escapeInter                // ESC and intermediate bytes, a final byte is due
	control                    // within a control sequence (CSI)
	controlStr                 // within OSC, DCS, SOS, PM or APC
	controlStrST               // within one of them, after ESC
)

// A Sanitizer removes from a stream of text what could steer a terminal:
// escape sequences, control characters other than tab and newline, and the
// marks that change the order in which characters are shown. Sequences and
// characters may be split over pieces anywhere. Bytes that are not UTF-8
// become U+FFFD. The zero value is ready; it is not safe for concurrent use.
type Sanitizer struct {
	state   sanitizeState
	partial string // first bytes of a character that is not complete yet
}

// Clean returns what of the next piece may be shown.
func (s *Sanitizer) Clean(piece string) string {
	if s.partial != "" {
		piece, s.partial = s.partial+piece, ""
	}
	var out strings.Builder
	for len(piece) > 0 {
		if !utf8.FullRuneInString(piece) {
			s.partial = piece
			break
		}
		r, size := utf8.DecodeRuneInString(piece)
		piece = piece[size:]
		if s.shows(r) {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// Reset ends the stream: what was cut off in the middle is forgotten, and the
// next piece begins a new text.
func (s *Sanitizer) Reset() { *s = Sanitizer{} }

// shows takes the next character and says whether it is to be shown. A
// sequence that was never finished ends at the line's end: otherwise one stray
// byte could hide all that follows it.
func (s *Sanitizer) shows(r rune) bool {
	if r == '\n' {
		s.state = ground
		return true
	}
	switch s.state {
	case escape:
		s.afterEscape(r)
		return false
	case escapeInter:
		if r < 0x20 || r > 0x2f {
			s.state = ground
		}
		return false
	case control:
		if r < 0x20 || r > 0x3f {
			s.state = ground
		}
		return false
	case controlStr:
		switch r {
		case 0x07, 0x9c:
			s.state = ground
		case 0x1b:
			s.state = controlStrST
		}
		return false
	case controlStrST:
		// ESC inside a string ends it, whatever follows: ESC \ is the proper
		// end, anything else starts a new sequence.
		if r == '\\' {
			s.state = ground
		} else {
			s.afterEscape(r)
		}
		return false
	}
	return s.showsPlain(r)
}

// afterEscape moves on from an ESC by the character that follows it.
func (s *Sanitizer) afterEscape(r rune) {
	switch {
	case r == '[':
		s.state = control
	case strings.ContainsRune("]PX^_", r):
		s.state = controlStr
	case r >= 0x20 && r <= 0x2f:
		s.state = escapeInter
	case r == 0x1b:
		s.state = escape
	default:
		s.state = ground
	}
}

// showsPlain judges a character outside any sequence.
func (s *Sanitizer) showsPlain(r rune) bool {
	switch {
	case r == '\t':
		return true
	case r == 0x1b:
		s.state = escape
		return false
	case r == 0x9b:
		s.state = control
		return false
	case r == 0x90, r == 0x98, r >= 0x9d && r <= 0x9f:
		s.state = controlStr
		return false
	case r < 0x20, r >= 0x7f && r <= 0x9f:
		return false
	}
	return !marks.Steers(r)
}

// Sanitize cleans one whole text as a [Sanitizer] would.
func Sanitize(text string) string {
	var s Sanitizer
	out := s.Clean(text)
	if s.partial != "" {
		out += string(utf8.RuneError)
	}
	return out
}

// Line makes one line of an untrusted text: sanitized, and with every run of
// white space, line ends included, turned into one space.
func Line(text string) string { return strings.Join(strings.Fields(Sanitize(text)), " ") }
