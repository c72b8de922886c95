package tools

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/internal/workspace"
)

const (
	// ReadImageBytes is the size of the largest image that read_file returns:
	// providers take about 5 MB in base64.
	ReadImageBytes = 3 << 20
	// ReadImageSide is the largest width and height in pixels.
	ReadImageSide = 8000
)

// image tells the type of a picture that models take. A text may begin like one.
// It must come before next.
func (l *lineReader) image() (mediaType string, ok bool) {
	head, _ := l.r.Peek(sniffed)
	if looksLikeText(head) {
		return "", false
	}
	switch mediaType = http.DetectContentType(head); mediaType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return mediaType, true
	default:
		return "", false
	}
}

// readImage answers the reading of a picture with words about it and, where it
// is sound and not too large, the picture.
func readImage(r io.Reader, f *workspace.File, path, mediaType string) Result {
	size := f.Info.Size()
	about := fmt.Sprintf("%s is an image, %s, %s", visibleName(path), mediaType, output.Size(size))
	data, err := io.ReadAll(io.LimitReader(r, ReadImageBytes+1))
	if err != nil {
		return Error(fmt.Sprintf("reading %q: %v", path, cause(err)))
	}
	width, height, err := dimensions(data, mediaType)
	if err == nil && len(data) <= ReadImageBytes {
		err = wholeImage(data, mediaType)
	}
	if err != nil {
		return Error(about + "; it is damaged: " + err.Error())
	}
	about += fmt.Sprintf(", %d × %d pixels", width, height)
	if len(data) > ReadImageBytes || width > ReadImageSide || height > ReadImageSide {
		return Text(fmt.Sprintf("[%s; it is too large to be shown (at most %s and %d pixels a side): make a smaller copy]",
			about, output.Size(ReadImageBytes), ReadImageSide))
	}
	return Result{Parts: []Part{{Text: "[" + about + "]"}, {MediaType: mediaType, Data: data}}}
}

// dimensions reads the width and height of a picture from its head; nothing is
// unpacked.
func dimensions(data []byte, mediaType string) (width, height int, err error) {
	var c image.Config
	switch mediaType {
	case "image/png":
		c, err = png.DecodeConfig(bytes.NewReader(data))
	case "image/jpeg":
		c, err = jpeg.DecodeConfig(bytes.NewReader(data))
	case "image/gif":
		c, err = gif.DecodeConfig(bytes.NewReader(data))
	default:
		c.Width, c.Height, err = webpDimensions(data)
	}
	if err == nil && (c.Width < 1 || c.Height < 1) {
		err = errors.New("it has no pixels")
	}
	return c.Width, c.Height, err
}

// webpDimensions reads them from the first chunk of a WebP file, of which there
// are three kinds.
func webpDimensions(data []byte) (width, height int, err error) {
	const chunk = 12 // after RIFF, a size and WEBP
	if len(data) < chunk+8+10 {
		return 0, 0, io.ErrUnexpectedEOF
	}
	body := data[chunk+8:]
	switch kind := string(data[chunk : chunk+4]); kind {
	case "VP8 ": // a frame's tag of 3 bytes and a start code of 3 come first
		return int(binary.LittleEndian.Uint16(body[6:]) & 0x3fff), int(binary.LittleEndian.Uint16(body[8:]) & 0x3fff), nil
	case "VP8L": // after a signature of 1 byte, 14 bits each, less one
		bits := binary.LittleEndian.Uint32(body[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, nil
	case "VP8X": // after 4 bytes of flags, 24 bits each, less one
		wide := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
		return wide(body[4:]) + 1, wide(body[7:]) + 1, nil
	default:
		return 0, 0, fmt.Errorf("its first chunk, %q, is unknown", kind)
	}
}
