package tools

import (
	"strings"
	"unicode/utf8"

	"github.com/belljar/belljar/internal/marks"
)

// Control bytes other than tab and newline, bytes that are not UTF-8, and the
// bytes of characters that hide in a text (see marks) are shown to the model one
// by one as two hex digits in white brackets, so that it can see them and
// name them in an edit. Text that already looks like such a spelling has its
// first bracket spelled, so spelling can always be undone.
const (
	spellOpen  = "⟦"
	spellClose = "⟧"
	spellForm  = spellOpen + "hh" + spellClose
	hexDigits  = "0123456789abcdef"
)

// spelledNote is put behind a text in which something is spelled.
const spelledNote = "control bytes, hidden marks and bytes that are not UTF-8 are shown as " + spellForm + "; edit_file takes them spelled so"

// unit takes the next character off p, which is not empty, or an emoji that has
// hidden ones in it: its size in bytes, and whether it must be spelled.
func unit(p string) (size int, spelled bool) {
	r, size := utf8.DecodeRuneInString(p)
	switch {
	case r == utf8.RuneError && size == 1:
		return 1, true
	case r == '\t' || r == '\n':
		return size, false
	case r < ' ' || r >= 0x7f && r < 0xa0 || marks.Hides(r):
		return size, true
	}
	if size == utf8.UTFMax {
		if flag := marks.Flag(p); flag > 0 {
			return flag, false
		}
	}
	_, is := spelledByte(p)
	return size, is
}

// spelledByte reads one spelling at the start of p.
func spelledByte(p string) (byte, bool) {
	const size = len(spellForm)
	if len(p) < size || !strings.HasPrefix(p, spellOpen) || p[len(spellOpen)+2:size] != spellClose {
		return 0, false
	}
	hi, ok1 := hexValue(p[len(spellOpen)])
	lo, ok2 := hexValue(p[len(spellOpen)+1])
	return hi<<4 | lo, ok1 && ok2
}

func hexValue(c byte) (byte, bool) {
	i := strings.IndexByte(hexDigits, c|0x20)
	if c < '0' || i < 0 {
		return 0, false
	}
	return byte(i), true
}

// spell writes every byte of p in its spelling.
func spell(b *strings.Builder, p string) {
	for i := range len(p) {
		b.WriteString(spellOpen)
		b.WriteByte(hexDigits[p[i]>>4])
		b.WriteByte(hexDigits[p[i]&15])
		b.WriteString(spellClose)
	}
}

// spelling is the spelling of every byte of p.
func spelling(p string) string {
	var b strings.Builder
	spell(&b, p)
	return b.String()
}

// visible shows a text. Tabs and newlines stay.
func visible(p string) string {
	shown, _, _ := visibleUpTo(p, len(p)*len(spellForm))
	return shown
}

// visibleUpTo shows as much of p as fits in limit characters: the text, how
// many bytes of p it stands for, and whether something was spelled.
func visibleUpTo(p string, limit int) (shown string, used int, spelled bool) {
	var b strings.Builder
	for chars := 0; used < len(p); {
		size, special := unit(p[used:])
		width := utf8.RuneCountInString(p[used : used+size])
		if special {
			width = size * utf8.RuneCountInString(spellForm)
		}
		if chars += width; chars > limit {
			break
		}
		if special {
			spell(&b, p[used:used+size])
			spelled = true
		} else {
			b.WriteString(p[used : used+size])
		}
		used += size
	}
	return b.String(), used, spelled
}

// unspell undoes visible.
func unspell(s string) string {
	if !strings.Contains(s, spellOpen) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		if c, ok := spelledByte(s); ok {
			b.WriteByte(c)
			s = s[len(spellForm):]
			continue
		}
		b.WriteByte(s[0])
		s = s[1:]
	}
	return b.String()
}

// visibleName shows a name of a file or a process, which untrusted code can
// choose, on one line of at most 200 characters.
func visibleName(name string) string { return oneLine(name, 200) }

// visiblePath is the same for a path that the model is to use: it is whole.
func visiblePath(name string) string { return oneLine(name, len(name)*len(spellForm)) }

func oneLine(name string, most int) string {
	shown, used, _ := visibleUpTo(name, most)
	if used < len(name) {
		shown += "…"
	}
	if !strings.ContainsAny(shown, "\n\t") {
		return shown
	}
	return strings.NewReplacer("\n", spellOpen+"0a"+spellClose, "\t", spellOpen+"09"+spellClose).Replace(shown)
}
