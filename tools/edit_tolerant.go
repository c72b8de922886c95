package tools

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTolerant is the size of the largest text in which a match that is not
// exact is looked for, in bytes: each byte of it costs nine.
const maxTolerant = 2 << 20

// maxCompared bounds the work of one such search, in bytes of old texts: one
// that repeats itself can stand nearly everywhere.
const maxCompared = 64 << 20

// tolerate finds the one place behind a start of a line where the old text
// stands but for differences that are easily made. It gives nil where there is
// none, and an answer where there are several.
func (r rewrite) tolerate(s *subject, start int) (*match, error) {
	if len(s.text) > maxTolerant {
		return nil, nil
	}
	for _, how := range []looseness{looseSpace, looseForm} {
		in, old := s.loose(how), loosen(r.old, how)
		if strings.TrimSpace(old.text) == "" {
			return nil, nil
		}
		found := in.find(old.text, start, r.lines || indentOf(r.old) != "")
		if len(found) > 1 {
			regions := make([]region, len(found))
			for i, at := range found {
				regions[i] = region{int(in.from[at.start]), 0}
			}
			return nil, answer(fmt.Sprintf("%s not found in it exactly; but for %s there are %s (%s): give the text exactly, with as many lines as make it unique",
				r.name.was(), how, placesFound(len(found)), lineNumbers(s.text, regions)))
		}
		if len(found) == 1 {
			return r.near(s.text, in, found[0], how), nil
		}
	}
	return nil, nil
}

// find looks for a loose text behind a place of the original, at the borders of
// words or at the starts of lines alone. What takes too long is not found.
func (l *loose) find(old string, start int, lines bool) []region {
	var found []region
	at, _ := slices.BinarySearch(l.from, int32(start))
	for left := maxCompared; len(found) <= maxFound; at++ {
		i := strings.Index(l.text[at:], old)
		if i < 0 {
			break
		}
		if left -= len(old); left < 0 {
			return nil
		}
		at += i
		if l.startsAt(at, lines) && border(l.text, at+len(old)) && l.parts(at) && l.parts(at+len(old)) {
			found = append(found, region{at, at + len(old)})
		}
	}
	return found
}

func (l *loose) startsAt(at int, line bool) bool {
	return at == 0 || l.text[at-1] == '\n' || !line && border(l.text, at)
}

// border tells whether no word goes on over a place in a text.
func border(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	return !isWord(before) || !isWord(after)
}

func isWord(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// near makes the match of the old text with the part of a text that is it but
// for some differences, or nil where the indentation of the two does not have
// the same structure: then it is not clear what that of new lines would be.
func (r rewrite) near(text string, in *loose, at region, how looseness) *match {
	span := region{int(in.from[at.start]), min(int(in.to[at.end-1]), len(text))}
	whole := at.start == 0 || in.text[at.start-1] == '\n'
	if whole {
		span.start = strings.LastIndexByte(text[:span.start], '\n') + 1
		if span.start == 0 && strings.HasPrefix(text, bom) {
			span.start = len(bom) // it is no part of the indentation
		}
	}
	old, have := splitLines(r.old), splitLines(text[span.start:span.end])
	for len(have) < len(old) { // the newline that is missing at the end
		have = append(have, "")
	}
	shifts, ok := indents(old, have, whole)
	if cut, rest := r.cutIn(old, have, whole, ok); cut {
		if r.startsCut() {
			return nil
		}
		n := len(indentOf(have[0]))
		span.start += n
		have[0] = have[0][n:]
		shifts, ok = rest, true
	} else if whole && r.unclear(have, rest) {
		return nil
	}
	if !ok {
		return nil
	}
	wrote := old
	for _, o := range r.ops {
		wrote = append(wrote[:len(wrote):len(wrote)], splitLines(o.text)...)
	}
	shifts.setSteps(wrote, text)
	m := &match{span: span, keepCRLF: r.keepCRLF}
	b := rebuilder{old: old, have: have, shifts: shifts}
	for _, o := range r.ops {
		m.ops = append(m.ops, b.op(r.old, span, o))
	}
	m.endAsBefore(text)
	m.note = fmt.Sprintf("%s not there exactly; %s, the only place that differs in no more than %s, was taken instead",
		r.name.was(), spanned(text, span), how)
	if shifts.move() {
		m.note += "; new lines are indented as that place is"
	}
	return m
}

// endAsBefore keeps the end of a text that has no newline there.
func (m *match) endAsBefore(text string) {
	if strings.HasSuffix(text, "\n") || text == "" {
		return
	}
	for i, o := range m.ops {
		if o.end != len(text) || !strings.HasSuffix(o.text, "\n") {
			continue
		}
		m.ops[i].text = strings.TrimSuffix(o.text, "\n")
		if o.start == len(text) {
			m.ops[i].text = "\n" + m.ops[i].text
		}
	}
}
