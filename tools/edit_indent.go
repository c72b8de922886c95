package tools

import (
	"slices"
	"strings"
)

// usualIndent is the step of indentation where none can be seen.
const usualIndent = 4

// indentLines is how many lines of a file are looked at for its indentation.
const indentLines = 2000

// A shift is an indentation in an old text and what it is in the file.
type shift struct{ old, have string }

// shifts are how the indentation of new lines becomes the file's.
type shifts struct {
	pairs             []shift
	first             bool   // they hold for the first line as well
	oldStep, haveStep string // one step of indentation
}

// indents compares the indentation of lines of an old text with that of the
// lines that were taken for them. ok is unset where what is alike or deeper in
// one is not so in the other. first says that the first line counts.
func indents(old, have []string, first bool) (s shifts, ok bool) {
	s.first = first
	for i := range old {
		if i == 0 && !first || strings.TrimSpace(old[i]) == "" || i >= len(have) {
			continue
		}
		p := shift{indentOf(old[i]), indentOf(have[i])}
		known := false
		for _, q := range s.pairs {
			if compareIndents(p.old, q.old) != compareIndents(p.have, q.have) {
				return s, false
			}
			known = known || p == q
		}
		if !known {
			s.pairs = append(s.pairs, p)
		}
	}
	return s, true
}

// compareIndents tells which of two indentations is deeper.
func compareIndents(a, b string) int {
	switch wa, wb := indentWidth(a), indentWidth(b); {
	case wa < wb:
		return -1
	case wa > wb:
		return 1
	default:
		return 0
	}
}

func indentWidth(indent string) int {
	return len(indent) + (usualIndent-1)*strings.Count(indent, "\t")
}

// indentOf is the white space that a line starts with.
func indentOf(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// setSteps finds out what one step of indentation is, in the lines that a model
// wrote and in a file.
func (s *shifts) setSteps(wrote []string, file string) {
	s.oldStep = step(wrote)
	s.haveStep = step(strings.SplitN(file, "\n", indentLines))
	if n := leastDifference(wrote); s.oldStep != "\t" && n > 1 && n < len(s.oldStep) {
		s.oldStep = s.oldStep[:n]
	}
	if s.oldStep == "" {
		s.oldStep = strings.Repeat(" ", usualIndent)
	}
	if s.haveStep == "" {
		s.haveStep = s.oldStep
	}
	// What the lines at the place show counts more than the rest of the file.
	shortest := ""
	for _, p := range s.pairs {
		for _, q := range s.pairs {
			old, deeper := strings.CutPrefix(q.old, p.old)
			have, also := strings.CutPrefix(q.have, p.have)
			if !deeper || !also || old == "" || have == "" || s.steps(old) == have {
				continue
			}
			if shortest == "" || len(old) < len(shortest) {
				shortest, s.oldStep, s.haveStep = old, old, have
			}
		}
	}
}

// step is the smallest indentation of lines, a tab where most of those that are
// indented have one, or "".
func step(lines []string) string {
	smallest, tabs := 0, 0
	for _, l := range lines {
		indent := indentOf(l)
		if strings.TrimSpace(l) == "" {
			continue
		}
		if strings.HasPrefix(indent, "\t") {
			tabs++
			continue
		}
		// One space is an alignment, as in comments.
		if len(indent) > 1 {
			tabs--
			if smallest == 0 || len(indent) < smallest {
				smallest = len(indent)
			}
		}
	}
	if tabs > 0 {
		return "\t"
	}
	return strings.Repeat(" ", smallest)
}

// leastDifference is the smallest difference between the indentations of lines,
// 0 where all are the same. An old text can start at any depth.
func leastDifference(lines []string) int {
	var widths []int
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			widths = append(widths, len(indentOf(l)))
		}
	}
	slices.Sort(widths)
	widths = slices.Compact(widths)
	least := 0
	for i := 1; i < len(widths); i++ {
		if n := widths[i] - widths[i-1]; least == 0 || n < least {
			least = n
		}
	}
	return least
}

// move tells whether new lines are indented otherwise than they were written:
// where the file is at the place, or where nothing is indented there and the
// rest of the file goes in other steps.
func (s shifts) move() bool {
	flat := true
	for _, p := range s.pairs {
		if p.old != p.have {
			return true
		}
		flat = flat && p.old == ""
	}
	return flat && s.oldStep != s.haveStep
}

// shift indents a new line as the file is. A blank one gets no white space.
func (s shifts) shift(line string) string {
	rest := strings.TrimLeft(line, " \t")
	if !s.move() {
		return line
	}
	if rest == "" || rest == "\n" {
		return rest
	}
	return s.indent(indentOf(line)) + rest
}

// indent is what an indentation that the model wrote is in the file: as in the
// old text where it stands there, or so many steps from the nearest one.
func (s shifts) indent(indent string) string {
	var deeper, flatter *shift
	for i, p := range s.pairs {
		switch {
		case p.old == indent:
			return p.have
		case strings.HasPrefix(indent, p.old) && (flatter == nil || len(p.old) > len(flatter.old)):
			flatter = &s.pairs[i]
		case strings.HasPrefix(p.old, indent) && (deeper == nil || len(p.old) < len(deeper.old)):
			deeper = &s.pairs[i]
		}
	}
	switch {
	case flatter != nil:
		return flatter.have + s.steps(indent[len(flatter.old):])
	case deeper != nil:
		less := s.steps(deeper.old[len(indent):])
		return deeper.have[:max(len(deeper.have)-len(less), 0)]
	default:
		return indent
	}
}

// steps writes an indentation in the steps of the file.
func (s shifts) steps(indent string) string {
	n := strings.Count(indent, s.oldStep)
	if n*len(s.oldStep) != len(indent) {
		return indent // an alignment
	}
	return strings.Repeat(s.haveStep, n)
}
