// Package utf16text reads UTF-16 text that a byte order mark tells, as programs
// on Windows write it.
package utf16text

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// Order tells the order of bytes from the beginning of a text, and whether it
// is UTF-16 at all.
func Order(head []byte) (binary.ByteOrder, bool) {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")): // UTF-32
		return nil, false
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return binary.LittleEndian, true
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return binary.BigEndian, true
	default:
		return nil, false
	}
}

// NewReader gives a text without its byte order mark as UTF-8. What is no
// character, such as half of a pair or an odd byte at the end, becomes the
// replacement character.
func NewReader(text io.Reader, order binary.ByteOrder) io.Reader {
	return &reader{from: bufio.NewReaderSize(text, 32<<10), order: order}
}

type reader struct {
	from  *bufio.Reader
	order binary.ByteOrder
	begun bool
	left  []byte // of a character that did not fit
	char  [utf8.UTFMax]byte
}

// Read implements [io.Reader].
func (r *reader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(r.left) == 0 {
			// What is there is handed on rather than waited for more.
			if n > 0 && r.from.Buffered() < 4 {
				return n, nil
			}
			if err := r.next(); err != nil {
				if n > 0 {
					return n, nil // it shows again at the next call
				}
				return 0, err
			}
		}
		moved := copy(p[n:], r.left)
		n, r.left = n+moved, r.left[moved:]
	}
	return n, nil
}

// next decodes one character.
func (r *reader) next() error {
	if !r.begun {
		r.begun = true
		if _, err := r.from.Discard(2); err != nil {
			return err
		}
	}
	unit, err := r.unit()
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(unit) {
		if second, err := r.from.Peek(2); err == nil {
			if pair := utf16.DecodeRune(unit, rune(r.order.Uint16(second))); pair != utf8.RuneError {
				unit = pair
				if _, err := r.from.Discard(2); err != nil {
					return err
				}
			}
		}
	}
	r.left = utf8.AppendRune(r.char[:0], unit)
	return nil
}

// unit takes the next two bytes.
func (r *reader) unit() (rune, error) {
	both, err := r.from.Peek(2)
	if len(both) < 2 {
		if len(both) == 1 && err == io.EOF {
			_, err = r.from.Discard(1)
			return utf8.RuneError, err
		}
		return 0, err
	}
	unit := rune(r.order.Uint16(both))
	_, err = r.from.Discard(2)
	return unit, err
}
