package tools

import (
	"bytes"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/belljar/belljar/internal/utf16text"
)

// A binaryKind is a type of file that holds no text: what it begins with, or
// has at an offset, what it is called, and what shows more of it.
type binaryKind struct {
	offset      int
	magic, name string
	hint        string
}

// binaryKinds are those that agents meet. What is told by its content types is
// left to the standard library.
func binaryKinds() []binaryKind {
	const (
		archive  = "use bash to list it: "
		database = "use bash with sqlite3 or python3 to query it"
	)
	return []binaryKind{
		{0, "%PDF-", "a PDF document", "use bash with pdftotext, where the image has it"},
		{0, "\x7fELF", "a binary file (an ELF program or library)", ""},
		{0, "PK\x03\x04", "a binary file (application/zip)", archive + "unzip -l or python3 -m zipfile -l"},
		{0, "\x1f\x8b", "a binary file (application/x-gzip)", archive + "tar tzf, or zcat for one file"},
		{0, "BZh", "a binary file (application/x-bzip2)", archive + "tar tjf, or bzcat for one file"},
		{0, "\xfd7zXZ\x00", "a binary file (application/x-xz)", archive + "tar tJf, or xzcat for one file"},
		{0, "\x28\xb5\x2f\xfd", "a binary file (application/zstd)", ""},
		{0, "7z\xbc\xaf\x27\x1c", "a binary file (application/x-7z-compressed)", ""},
		{257, "ustar", "a binary file (a tar archive)", archive + "tar tf"},
		{0, "!<arch>\n", "a binary file (an ar archive)", archive + "ar t"},
		{0, "SQLite format 3\x00", "a binary file (an SQLite database)", database},
		{0, "MZ", "a binary file (a Windows program or library)", ""},
		{0, "\xcf\xfa\xed\xfe", "a binary file (a Mach-O program or library)", ""},
		{0, "\xca\xfe\xba\xbe", "a binary file (a Java class or Mach-O program)", ""},
		{0, "\x00asm", "a binary file (WebAssembly)", ""},
		{0, "PAR1", "a binary file (Parquet)", "use bash with python3 to read it, where the image has a library for it"},
		{0, "\x93NUMPY", "a binary file (a NumPy array)", "use bash with python3 and numpy, where the image has it"},
	}
}

// binary names what a file holds that is not text, or "", and what shows more
// of it. It must come before next.
func (l *lineReader) binary() (kind, hint string) {
	// An error shows again at the next read.
	head, _ := l.r.Peek(sniffed)
	return kindOfBinary(head)
}

// kindOfBinary is that of what a file begins with.
func kindOfBinary(head []byte) (kind, hint string) {
	if _, wide := utf16text.Order(head); wide {
		return "", ""
	}
	text := looksLikeText(head)
	for _, k := range binaryKinds() {
		if len(head) > k.offset && bytes.HasPrefix(head[k.offset:], []byte(k.magic)) && (!text || k.magic == "%PDF-") {
			return k.name, k.hint
		}
	}
	if text {
		return "", ""
	}
	kind, _, _ = strings.Cut(http.DetectContentType(head), ";")
	return "a binary file (" + kind + ")", ""
}

// looksLikeText tells text by there being no NUL and few other control bytes.
func looksLikeText(head []byte) bool {
	controls := 0
	for _, b := range head {
		if b < ' ' && b != '\t' && b != '\n' && b != '\r' && b != '\f' && b != 0x1b {
			controls++
		}
	}
	if bytes.IndexByte(head, 0) >= 0 || controls > len(head)/10 && len(head) >= 64 {
		return false
	}
	// A short file of a known kind may have neither.
	return controls == 0 || utf8.Valid(head) || len(head) >= 64
}
