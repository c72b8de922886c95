package utf16text_test

import (
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/belljar/belljar/internal/utf16text"
)

func encode(text string, order binary.ByteOrder) string {
	data := make([]byte, 0, 2*len(text)+2)
	buf := make([]byte, 2)
	for _, unit := range append([]uint16{0xfeff}, utf16.Encode([]rune(text))...) {
		order.PutUint16(buf, unit)
		data = append(data, buf...)
	}
	return string(data)
}

func TestReader(t *testing.T) {
	long := strings.Repeat("line of text 中 😀\r\n", 5000)
	for _, tt := range []struct{ name, text, want string }{
		{"little endian", encode("a\né😀", binary.LittleEndian), "a\né😀"},
		{"big endian", encode("a\né😀", binary.BigEndian), "a\né😀"},
		{"empty", "\xff\xfe", ""},
		{"long", encode(long, binary.LittleEndian), long},
		{"half a pair", "\xff\xfe\x3d\xd8a\x00", "\ufffda"},
		{"half a pair at the end", "\xff\xfea\x00\x3d\xd8", "a\ufffd"},
		{"an odd byte", "\xff\xfea\x00b", "a\ufffd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			order, ok := utf16text.Order([]byte(tt.text))
			if !ok {
				t.Fatal("it is not told")
			}
			for name, from := range map[string]io.Reader{"whole": strings.NewReader(tt.text), "bytes": iotest.OneByteReader(strings.NewReader(tt.text))} {
				got, err := io.ReadAll(utf16text.NewReader(from, order))
				if string(got) != tt.want || err != nil {
					t.Errorf("%s: %.100q, %v, want %.100q", name, got, err, tt.want)
				}
			}
			got, err := io.ReadAll(iotest.OneByteReader(utf16text.NewReader(strings.NewReader(tt.text), order)))
			if string(got) != tt.want || err != nil {
				t.Errorf("byte by byte: %.100q, %v", got, err)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	for _, text := range []string{"", "a", "\xff", "\xef\xbb\xbfa", "\xff\xfe\x00\x00a\x00\x00\x00"} {
		if order, ok := utf16text.Order([]byte(text)); ok {
			t.Errorf("%q is taken for UTF-16, %v", text, order)
		}
	}
}

func TestReaderError(t *testing.T) {
	from := io.MultiReader(strings.NewReader("\xff\xfea\x00"), iotest.ErrReader(io.ErrUnexpectedEOF))
	got, err := io.ReadAll(utf16text.NewReader(from, binary.LittleEndian))
	if string(got) != "a" || err != io.ErrUnexpectedEOF {
		t.Errorf("%q, %v", got, err)
	}
}
