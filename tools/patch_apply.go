package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// rewrite is what a chunk looks for and makes of it.
func (c chunk) rewrite() rewrite {
	r := rewrite{lines: true, name: oldLines}
	var old strings.Builder
	for _, l := range c.lines {
		text := l.text + "\n"
		if l.mark == ' ' {
			old.WriteString(text)
			continue
		}
		at := old.Len()
		// Lines that go and come in one place are one op.
		if n := len(r.ops); n == 0 || r.ops[n-1].end != at {
			r.ops = append(r.ops, op{region: region{at, at}})
		}
		o := &r.ops[len(r.ops)-1]
		if l.mark == '-' {
			old.WriteString(text)
			o.end = old.Len()
		} else {
			o.text += text
		}
	}
	r.old = old.String()
	return r
}

// applyChunks makes the changes of a patch to one file, each looked for in the
// content as it is.
func applyChunks(ctx context.Context, content string, chunks []chunk, tolerant bool) (edited, error) {
	if len(chunks) > maxEdits {
		return edited{}, answer(fmt.Sprintf("a call may change %d places of a file at most, and these are %d: make several calls", maxEdits, len(chunks)))
	}
	var (
		f        = newSubject(content)
		found    []placed
		problems []string
		after    int
		about    []string
	)
	for _, c := range chunks {
		for _, l := range c.lines {
			about = append(about, l.text)
		}
	}
	if err := refuseBinary(content, about); err != nil {
		return edited{}, err
	}
	for i, c := range chunks {
		if len(problems) == maxProblems {
			problems = append(problems, "the chunks after it were not looked at")
			break
		}
		if err := ctx.Err(); err != nil {
			return edited{}, err
		}
		m, err := c.locate(f, after, tolerant)
		if err == nil {
			err = c.mixes(f)
		}
		if err != nil {
			problems = append(problems, ofChunks(i, len(chunks))+err.Error())
			continue
		}
		found = append(found, placed{m, i})
		after = m.span.end
	}
	if problems == nil {
		problems = overlaps(f.text, found)
	}
	if problems != nil {
		return edited{}, answer(strings.Join(problems, "\n"))
	}
	return f.apply(content, found)
}

func ofChunks(i, n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf("chunk %d of %d: ", i+1, n)
}

func (c chunk) mixes(s *subject) error {
	var e edit
	for _, l := range c.lines {
		if l.mark == '+' {
			e.new += l.text + "\n"
		} else {
			e.old += l.text + "\n"
		}
	}
	return e.mixes(s)
}

// locate finds the place of a chunk: the only one that has its lines or, where
// several have, the one behind its headers or behind the chunk before it.
func (c chunk) locate(s *subject, after int, tolerant bool) (match, error) {
	starts, note, err := c.starts(s)
	if err != nil {
		return match{}, err
	}
	m, err := c.behind(s, starts, after, tolerant)
	m.note = strings.Trim(m.note+"; "+note, "; ")
	return m, err
}

// behind is locate for what is behind places of the text.
func (c chunk) behind(s *subject, starts []int, after int, tolerant bool) (match, error) {
	r, text := c.rewrite(), s.text
	if r.old == "" {
		return c.insert(text, r, starts)
	}
	found := c.standing(text, r, starts)
	if len(found) > 1 {
		behind := slices.DeleteFunc(slices.Clone(found), func(at region) bool { return at.start < after })
		if len(behind) != 1 {
			return match{}, answer(fmt.Sprintf("its lines stand in it %s (%s): add lines around them, or a line %s with a line that stands before the one that you mean",
				times(len(found)), lineNumbers(text, found), patchHunk))
		}
		found = behind
	}
	if len(found) == 1 {
		m := r.at(found[0])
		m.endAsBefore(text)
		return m, nil
	}
	marked := c.marked()
	if found := marked.standing(text, marked.rewrite(), starts); len(found) == 1 {
		return *c.remarked(text, found[0]), nil
	}
	return c.near(s, r, starts, tolerant)
}

// standing are the places where the lines of a chunk stand exactly.
func (c chunk) standing(text string, r rewrite, starts []int) []region {
	found := linesIn(text, r.old)
	if c.atEnd {
		found = slices.DeleteFunc(found, func(at region) bool { return at.end != len(text) })
	}
	if len(c.headers) > 0 {
		found = firstBehind(found, starts, len(firstLine(r.old))+1)
	}
	return found
}

// near finds the only place that a chunk's lines stand in but for differences
// that are easily made.
func (c chunk) near(s *subject, r rewrite, starts []int, tolerant bool) (match, error) {
	text := s.text
	if elsewhere := linesIn(text, r.old); len(elsewhere) > 0 {
		return match{}, answer(fmt.Sprintf("its lines stand in it (%s), but not where %s or %s say", lineNumbers(text, elsewhere), patchHunk, patchEOF))
	}
	m, err := r.tolerate(s, starts[0])
	if err != nil {
		return match{}, err
	}
	why := ""
	switch {
	case m != nil && c.atEnd && m.span.end != len(text):
		why = "They are not at the end of the file. "
	case m != nil && tolerant:
		if marked := c.remarked(text, m.span); marked != nil {
			m = marked
		}
		return *m, nil
	case m != nil:
		why = "Read the file, which has not been read yet: lines that are not exact are taken only then. "
	default:
		why = applied(text, r.old, c.new(), "its new lines stand")
	}
	return match{}, answer("its lines were not found in it. " + why + s.nearest(r.old))
}

// new is what a chunk makes of its lines.
func (c chunk) new() string {
	var b strings.Builder
	for _, l := range c.lines {
		if l.mark != '-' {
			b.WriteString(l.text + "\n")
		}
	}
	return b.String()
}

// insert is the match of a chunk that only adds: behind its headers, or at the
// end of the file. The number of a line is no place: it is easily wrong.
func (c chunk) insert(text string, r rewrite, starts []int) (match, error) {
	at := len(text)
	switch {
	case len(c.headers) > 0 || c.atEnd || text == "":
	case c.parted:
		return match{}, answer("it is not clear whether its new lines go before the empty ones behind them or to the end of the file: start lines that stay with a space, or put " + patchEOF + " behind the new ones")
	case c.numbered:
		return match{}, answer("numbers of lines do not say where a chunk goes: add a line that stays before or after the new ones, or " + patchEOF + " behind them")
	}
	if len(c.headers) > 0 && !c.atEnd {
		if len(starts) > 1 {
			return match{}, answer(fmt.Sprintf("the line %q stands in it %s: add lines around the place that you mean", c.headers[len(c.headers)-1], times(len(starts))))
		}
		at = starts[0]
	}
	m := r.at(region{at, at})
	m.endAsBefore(text)
	return m, nil
}

// linesIn finds whole lines in a text, the last of which may lack its newline.
func linesIn(text, old string) []region {
	searched := text
	if !strings.HasSuffix(text, "\n") {
		searched += "\n"
	}
	var found []region
	for _, start := range []string{"", bom} { // the first line may be given without its mark
		if strings.HasPrefix(searched, start+old) {
			found = append(found, region{len(start), min(len(start)+len(old), len(text))})
			break
		}
	}
	// With the newline before it all that is found counts.
	for at, line := 0, "\n"+old; len(found) <= maxFound; {
		i := strings.Index(searched[at:], line)
		if i < 0 {
			break
		}
		at += i + 1
		found = append(found, region{at, min(at+len(old), len(text))})
	}
	return found
}

// firstBehind are the regions that are the first behind one of the places, which
// are ends of lines. Both are in the order of the text. first is the length of
// their first line, which may be the one that the place is the end of: some
// models give a header once more as a line that stays.
func firstBehind(found []region, places []int, first int) []region {
	var nearest []region
	i := 0
	for _, place := range places {
		for i < len(found) && found[i].start+first < place {
			i++
		}
		if i < len(found) && (len(nearest) == 0 || nearest[len(nearest)-1] != found[i]) {
			nearest = append(nearest, found[i])
		}
	}
	return nearest
}
