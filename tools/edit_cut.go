package tools

import "strings"

// cutIn tells whether an old text begins within the indentation of its first
// line or behind it, as texts copied from the first word on do: the lines after
// the first are as deep as in the file, and the first is not. What holds for the
// others is given as well. asIs says that all lines can be taken as they are.
func (r rewrite) cutIn(old, have []string, whole, asIs bool) (cut bool, rest shifts) {
	rest, alike := indents(old, have, false)
	if !whole || r.lines || compareIndents(indentOf(old[0]), indentOf(have[0])) >= 0 {
		return false, rest
	}
	return alike && (rest.level() || !asIs && indentOf(old[0]) == ""), rest
}

// level tells whether there are lines, all as deep as in the old text.
func (s shifts) level() bool {
	for _, p := range s.pairs {
		if compareIndents(p.old, p.have) != 0 {
			return false
		}
	}
	return len(s.pairs) > 0
}

// startsCut tells whether new lines come before the first one of an old text
// that was cut: that one would have to be indented as the file has it then, and
// is not.
func (r rewrite) startsCut() bool {
	return len(r.ops) > 0 && r.ops[0].region == region{} && r.ops[0].text != ""
}

// unclear tells whether nothing but one line tells what the indentation of new
// lines is meant from: from that of the line, which the old text lacks, or from
// none. Where one of them is not indented it is the former.
func (r rewrite) unclear(have []string, rest shifts) bool {
	if r.lines || len(rest.pairs) > 0 || indentOf(r.old) != "" || indentOf(have[0]) == "" {
		return false
	}
	more := false
	for _, o := range r.ops {
		for i, l := range splitLines(o.text) {
			if i == 0 && o.start == 0 || strings.TrimSpace(l) == "" {
				continue
			}
			if indentOf(l) == "" {
				return false
			}
			more = true
		}
	}
	return more
}
