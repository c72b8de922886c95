// Package marks tells the characters that show nothing of their own and yet
// change how the text around them is read, so that a text can be another one
// than it looks.
//
// Not among them are those that ordinary text needs where they stand: the
// joiners and the non-joiner (emoji, Persian, the scripts of India), the space
// of no width (Thai, Khmer), the soft hyphen, variation selectors, the vowel
// separator of Mongolian and the fillers of Hangul. Marks of order are in
// ordinary Arabic and Hebrew, too, but no other character can make code read
// as what it is not.
package marks

import (
	"strings"
	"unicode"
)

// Steers tells a mark that changes the order in which others are shown (the
// property Bidi_Control of Unicode), or ends a line without being a newline.
func Steers(r rune) bool {
	return r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
}

// Hides tells a mark that a reader must be shown: one that steers, or one that
// ordinary text has no use for, and that can part words which look whole or
// carry a text that nobody sees.
func Hides(r rune) bool {
	switch {
	case r == '\ufeff': // a byte order mark, which is none within a text
	case r >= '\u2060' && r <= '\u206f': // word joiner, invisible operators, and forms that Unicode deprecates
	case r >= '\ufff9' && r <= '\ufffb': // bounds of annotations
	case r >= 0xe0000 && r <= 0xe007f: // tags: ASCII that is never shown
	default:
		return Steers(r)
	}
	return true
}

// flags are the emoji of which tags are a part: those of England, Scotland and
// Wales. No others are recommended for interchange, and a flag with any tags
// would hide a text again.
var flags = [...]string{tagged("gbeng"), tagged("gbsct"), tagged("gbwls")}

// tagged is the flag of a region.
func tagged(region string) string {
	const black, tags, end = 0x1f3f4, 0xe0000, 0xe007f
	flag := []rune{black}
	for _, letter := range region {
		flag = append(flag, tags+letter)
	}
	return string(append(flag, end))
}

// Flag is the length in bytes of the emoji at the start of a text whose tags
// hide nothing, 0 where there is none.
func Flag(text string) int {
	for _, flag := range flags {
		if strings.HasPrefix(text, flag) {
			return len(flag)
		}
	}
	return 0
}
