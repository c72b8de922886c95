package tools

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// wholeImage tells what keeps a picture from being one as far as that shows
// without unpacking it. A provider refuses a picture that is broken, and with
// it every later request that holds it.
func wholeImage(data []byte, mediaType string) error {
	switch mediaType {
	case "image/png":
		return wholePNG(data)
	case "image/jpeg":
		return wholeJPEG(data)
	case "image/gif":
		return wholeGIF(data)
	default:
		return wholeWebP(data)
	}
}

// wholePNG goes through the chunks, each with a length, a name and a checksum,
// to the one that ends the picture.
func wholePNG(data []byte) error {
	const signature, frame = 8, 12 // length, name and checksum
	pixels := false
	for at := signature; at+frame <= len(data); {
		size := int64(binary.BigEndian.Uint32(data[at:]))
		if size > int64(len(data)-at-frame) {
			break
		}
		end := at + 8 + int(size)
		if crc32.ChecksumIEEE(data[at+4:end]) != binary.BigEndian.Uint32(data[end:]) {
			return errors.New("a checksum is wrong")
		}
		switch string(data[at+4 : at+8]) {
		case "IDAT":
			pixels = true
		case "IEND":
			if !pixels {
				return errors.New("it has no pixels")
			}
			return nil
		}
		at = end + 4
	}
	return io.ErrUnexpectedEOF
}

// wholeJPEG goes through the segments to the first scan, and looks for the end
// after it.
func wholeJPEG(data []byte) error {
	const startOfScan, fill = 0xda, 0xff
	for at := 2; at+4 <= len(data); {
		switch {
		case data[at] != 0xff:
			return errors.New("a segment does not begin with FF")
		case data[at+1] == fill:
			at++
			continue
		case data[at+1] == startOfScan:
			if !bytes.Contains(data[at:], []byte("\xff\xd9")) {
				return io.ErrUnexpectedEOF
			}
			return nil
		}
		at += 2 + max(int(binary.BigEndian.Uint16(data[at+2:])), 2)
	}
	return io.ErrUnexpectedEOF
}

// wholeGIF goes through the blocks to the trailer.
func wholeGIF(data []byte) error {
	const extension, picture, trailer = 0x21, 0x2c, 0x3b
	if len(data) < 13 {
		return io.ErrUnexpectedEOF
	}
	pictures := 0
	for at := 13 + colours(data[10]); at < len(data); {
		switch data[at] {
		case trailer:
			if pictures == 0 {
				return errors.New("it has no pixels")
			}
			return nil
		case extension:
			at += 2
		case picture:
			if at+10 > len(data) {
				return io.ErrUnexpectedEOF
			}
			pictures++
			at += 10 + colours(data[at+9]) + 1
		default:
			return errors.New("a block is of no known kind")
		}
		for at < len(data) && data[at] != 0 { // parts with a length each, up to one of 0
			at += 1 + int(data[at])
		}
		at++
	}
	return io.ErrUnexpectedEOF
}

// colours is the size of the table that a byte of flags tells.
func colours(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// wholeWebP goes through the chunks, each with a name and a length, to one that
// holds a picture or a frame.
func wholeWebP(data []byte) error {
	const begin, frame = 12, 8
	if len(data) < begin {
		return io.ErrUnexpectedEOF
	}
	end := int64(binary.LittleEndian.Uint32(data[4:])) + 8
	if end > int64(len(data)) {
		return io.ErrUnexpectedEOF
	}
	for at := int64(begin); at+frame <= end; {
		size := int64(binary.LittleEndian.Uint32(data[at+4:]))
		if size > end-at-frame {
			break
		}
		body := data[at+frame : at+frame+size]
		switch string(data[at : at+4]) {
		case "VP8 ":
			if len(body) < 10 || string(body[3:6]) != "\x9d\x01\x2a" {
				return errors.New("its picture has no start code")
			}
			return nil
		case "VP8L":
			if len(body) < 5 || body[0] != 0x2f {
				return errors.New("its picture has no signature")
			}
			return nil
		case "ANMF":
			return nil
		}
		at += frame + size + size&1
	}
	return io.ErrUnexpectedEOF
}
