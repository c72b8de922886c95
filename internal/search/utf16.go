package search

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// decodeUTF16 gives a text as UTF-8 when a byte order mark says that it is
// UTF-16, and tells whether it did. What is no character becomes the
// replacement character.
func decodeUTF16(text []byte) ([]byte, bool) {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(text, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(text, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return text, false
	}
	decoded := make([]byte, 0, len(text))
	for text = text[2:]; len(text) >= 2; text = text[2:] {
		r := rune(order.Uint16(text))
		if utf16.IsSurrogate(r) && len(text) >= 4 {
			if pair := utf16.DecodeRune(r, rune(order.Uint16(text[2:]))); pair != utf8.RuneError {
				r, text = pair, text[2:]
			}
		}
		decoded = utf8.AppendRune(decoded, r)
	}
	return decoded, true
}
