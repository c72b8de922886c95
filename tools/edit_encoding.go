package tools

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// An encoding is how a text is kept in a file.
type encoding int

const (
	// asIs is UTF-8, or another encoding in which ASCII is itself: the bytes
	// are edited as they are.
	asIs encoding = iota
	utf16LE
	utf16BE
)

// Byte order marks of encodings in which ASCII is not itself.
const (
	bomUTF16LE = "\xff\xfe"
	bomUTF16BE = "\xfe\xff"
	bomUTF32LE = "\xff\xfe\x00\x00"
	bomUTF32BE = "\x00\x00\xfe\xff"
)

// decodeText gives the text of a file, and how it is kept. What would not come
// out of it again as it was is an answer.
func decodeText(content []byte) (string, encoding, error) {
	var (
		head = string(content[:min(len(content), 4)])
		e    = asIs
	)
	switch {
	case strings.HasPrefix(head, bomUTF32LE), strings.HasPrefix(head, bomUTF32BE):
		return "", asIs, answer("it is UTF-32, which is not edited here: use bash with a script")
	case strings.HasPrefix(head, bomUTF16LE):
		e = utf16LE
	case strings.HasPrefix(head, bomUTF16BE):
		e = utf16BE
	default:
		return string(content), asIs, nil
	}
	units := make([]uint16, len(content)/2)
	for i := range units {
		units[i] = e.order().Uint16(content[2*i:])
	}
	text := string(utf16.Decode(units))
	again, err := e.encode(text)
	if err != nil || !slices.Equal(again, content) {
		return "", asIs, answer("it starts as UTF-16 but is not valid as that, so that it could not be kept as it is: use bash with a script")
	}
	return text, e, nil
}

// encode puts a text into the form of the file.
func (e encoding) encode(text string) ([]byte, error) {
	if e == asIs {
		return []byte(text), nil
	}
	if !utf8.ValidString(text) {
		return nil, answer("it is UTF-16, and the new text has bytes that are no characters")
	}
	var data []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		data = e.order().AppendUint16(data, unit)
	}
	return data, nil
}

// A byteOrder reads and writes numbers of two bytes.
type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

func (e encoding) order() byteOrder {
	if e == utf16BE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}
