package tools

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// maxFound is how many occurrences are counted when one was asked for.
const maxFound = 1000

// maxPlaces is how many places one edit may replace its text in.
const maxPlaces = 100_000

// An edit replaces old by new in a text, which are bytes as they are in the
// file but for line ends: a newline stands for LF and CRLF.
type edit struct {
	old, new string
	all      bool
	// keepCRLF is set where a CRLF in new is one that was asked for.
	keepCRLF bool
}

// newEdit is an edit with the texts as a model wrote them. A CR that is spelled
// is a byte like any other, and no part of a line end.
func newEdit(old, new string, all bool) edit {
	// A CRLF in new is asked for, unless old has CRLF too: then that is just
	// how the model writes a newline.
	e := edit{old: unspell(fold(old).text), all: all, keepCRLF: strings.Contains(new, "\r\n") && !strings.Contains(old, "\r\n")}
	if !e.keepCRLF {
		new = fold(new).text
	}
	e.new = unspell(new)
	return e
}

// A rewrite is a text to look for, in LF, with what to make of its lines.
type rewrite struct {
	old string
	ops []op
	// keepCRLF is set where a CRLF in a new line is one that was asked for.
	keepCRLF bool
	// lines is set where old is whole lines.
	lines bool
	name  oldName
}

// An oldName is what a model knows an old text as.
type oldName int

const (
	oldText oldName = iota
	oldLines
)

// was starts a sentence about an old text.
func (n oldName) was() string {
	if n == oldLines {
		return "its lines were"
	}
	return "old_text was"
}

// An op replaces whole lines of a rewrite's old text.
type op struct {
	region
	text string
}

// A match is where a rewrite's old text stands, with what to change there.
type match struct {
	span     region
	ops      []op // in the text that was searched
	keepCRLF bool
	note     string // how it differs, "" where it is exact
}

// rewrite tells which lines of the old text an edit changes, so that all others
// stay as the file has them.
func (e edit) rewrite() rewrite {
	r := rewrite{old: e.old, keepCRLF: e.keepCRLF}
	for _, d := range udiff.Lines(r.old, e.new) {
		r.ops = append(r.ops, op{region{d.Start, d.End}, d.New})
	}
	return r
}

// locate finds the places that an edit is about: one, or every one where all
// are asked for. What keeps it from being made is an answer.
func (e edit) locate(f *subject, tolerant bool) ([]match, error) {
	r := e.rewrite()
	found := f.find(r.old, e.all)
	within := e.withinIndent(f.text, found)
	switch {
	case within != "" && !e.all:
	case within != "":
		return nil, answer(within + "new lines would be indented otherwise than it is: make an edit of each place")
	case len(found) > 1 && !e.all:
		return nil, answer(fmt.Sprintf("old_text stands in it %s (%s): take in more of the lines around the one that you mean, or set replace_all",
			times(len(found)), lineNumbers(f.text, found)))
	case len(found) > maxPlaces:
		return nil, answer(fmt.Sprintf("old_text stands in it more than %d times: use bash with sed or a script", maxPlaces))
	case len(found) > 0:
		matches := make([]match, len(found))
		for i, at := range found {
			matches[i] = r.at(at)
		}
		return matches, nil
	case f.text == "":
		return nil, answer("it is empty; use write_file")
	}
	var why string
	if !e.all {
		near, err := e.trimmed().rewrite().tolerate(f, 0)
		if err != nil {
			return nil, err
		}
		if near != nil && tolerant {
			return []match{*near}, nil
		}
		if near != nil {
			why = within + "Read the file, which has not been read yet: an old_text that is not exact is taken only then. "
		}
	}
	if within != "" && why == "" {
		return nil, answer(within + "give all of it")
	}
	return nil, answer("old_text was not found in it. " + why + applied(f.text, r.old, fold(e.new).text, "new_text stands") + f.nearest(r.old))
}

// trimmed is an edit without the white space that both of its texts end with,
// which is behind what a match that is not exact takes in.
func (e edit) trimmed() edit {
	old, new := strings.TrimRight(e.old, " \t"), strings.TrimRight(e.new, " \t")
	if e.old[len(old):] == e.new[len(new):] {
		e.old, e.new = old, new
	}
	return e
}

// at is the match of a rewrite whose old text stands exactly at a region, which
// lacks its last newline where the file does.
func (r rewrite) at(span region) match {
	m := match{span: span, keepCRLF: r.keepCRLF}
	for _, o := range r.ops {
		m.ops = append(m.ops, op{region{min(span.start+o.start, span.end), min(span.start+o.end, span.end)}, o.text})
	}
	return m
}

// find looks for every occurrence. For counting they may overlap: where one of
// two overlapping ones was meant, it is not clear which.
func (f folded) find(old string, all bool) []region {
	var found []region
	most := maxFound
	if all {
		most = maxPlaces
	}
	for at := 0; len(found) <= most; {
		i := strings.Index(f.text[at:], old)
		if i < 0 {
			break
		}
		r := region{at + i, at + i + len(old)}
		found = append(found, r)
		at = r.start + 1
		if all {
			at = r.end
		}
	}
	return found
}

// applied tells when the new text stands where the old one is missing: the edit
// may have been made before. A new text that is short can stand anywhere. stands
// starts the sentence.
func applied(text, old, new, stands string) string {
	const telling = 4
	if len(strings.TrimSpace(new)) < telling || strings.Contains(old, new) {
		return ""
	}
	for at, tried := 0, 0; tried < maxFound; at, tried = at+1, tried+1 {
		i := strings.Index(text[at:], new)
		if i < 0 {
			break
		}
		if at += i; border(text, at) && border(text, at+len(new)) {
			return fmt.Sprintf("But %s in it (%s): if that is the place that you mean, the edit is applied already. ", stands, spanned(text, region{at, at + len(new)}))
		}
	}
	return ""
}
