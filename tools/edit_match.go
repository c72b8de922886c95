package tools

import (
	"fmt"
	"slices"
	"strings"
)

// maxFound is how many occurrences are counted when one was asked for.
const maxFound = 1000

// An edit replaces old by new in a text, which are bytes as they are in the
// file but for line ends: a newline in old matches LF and CRLF.
type edit struct {
	old, new string
	all      bool
}

// A region is a part of a text.
type region struct{ start, end int }

// folded is a text with every CRLF made LF, which is where old is looked for.
type folded struct {
	text string
	crlf []int // the positions in text of newlines that were CRLF, ascending
}

// edited is what an edit made.
type edited struct {
	content string
	before  folded
	regions []region // in before
	news    []string // what replaced each, line ends folded
}

func fold(s string) folded {
	if !strings.Contains(s, "\r\n") {
		return folded{text: s}
	}
	var (
		f folded
		b strings.Builder
	)
	b.Grow(len(s))
	for {
		before, after, found := strings.Cut(s, "\r\n")
		b.WriteString(before)
		if !found {
			break
		}
		f.crlf = append(f.crlf, b.Len())
		b.WriteByte('\n')
		s = after
	}
	f.text = b.String()
	return f
}

// original is the place in the unfolded text of a place in the folded one. The
// place of a newline is that of its CR.
func (f folded) original(i int) int {
	n, _ := slices.BinarySearch(f.crlf, i)
	return i + n
}

// end is how the newline at i ends its line.
func (f folded) end(i int) string {
	if _, found := slices.BinarySearch(f.crlf, i); found {
		return "\r\n"
	}
	return "\n"
}

// ends are the line ends in a region or, where it has none, the nearest one,
// for new lines to follow.
func (f folded) ends(r region) []string {
	var ends []string
	for i := r.start; i < r.end; i++ {
		if f.text[i] == '\n' {
			ends = append(ends, f.end(i))
		}
	}
	if ends != nil {
		return ends
	}
	if i := strings.IndexByte(f.text[r.end:], '\n'); i >= 0 {
		return []string{f.end(r.end + i)}
	}
	if i := strings.LastIndexByte(f.text[:r.start], '\n'); i >= 0 {
		return []string{f.end(i)}
	}
	return []string{"\n"}
}

// apply makes the edit. What keeps it from being made is an answer.
func (e edit) apply(content string) (edited, error) {
	f := fold(content)
	old := fold(e.old).text
	regions := f.find(old, e.all)
	switch {
	case content == "":
		return edited{}, answer("it is empty; use write_file")
	case len(regions) == 0:
		return edited{}, answer("old_text was not found in it. " + nearest(f.text, old))
	case len(regions) > 1 && !e.all:
		return edited{}, answer(fmt.Sprintf("old_text stands in it %s (%s): take in more of the lines around the one that you mean, or set replace_all",
			times(len(regions)), lineNumbers(f.text, regions)))
	}
	done := edited{before: f, regions: regions}
	var b strings.Builder
	b.Grow(len(content))
	at := 0
	for _, r := range regions {
		text := e.replacement(f.ends(r))
		b.WriteString(content[at:f.original(r.start)])
		b.WriteString(text)
		at = f.original(r.end)
		done.news = append(done.news, fold(text).text)
	}
	b.WriteString(content[at:])
	if done.content = b.String(); done.content == content {
		return edited{}, answer("no change: new_text would make the same bytes as are there")
	}
	return done, nil
}

// find looks for every occurrence. For counting they may overlap: where one of
// two overlapping ones was meant, it is not clear which.
func (f folded) find(old string, all bool) []region {
	var found []region
	for at := 0; all || len(found) <= maxFound; {
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

// replacement is new with the given line ends, the last of which stands for all
// further ones. A CRLF in new is one that was asked for, unless old has CRLF
// too: then that is just how the model writes a newline.
func (e edit) replacement(ends []string) string {
	text := e.new
	keep := strings.Contains(text, "\r\n") && !strings.Contains(e.old, "\r\n")
	if !keep {
		text = fold(text).text
	}
	var b strings.Builder
	for n := 0; ; n++ {
		before, after, found := strings.Cut(text, "\n")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if keep && strings.HasSuffix(before, "\r") {
			b.WriteByte('\n')
		} else {
			b.WriteString(ends[min(n, len(ends)-1)])
		}
		text = after
	}
}

func times(n int) string {
	if n > maxFound {
		return fmt.Sprintf("more than %d times", maxFound)
	}
	return fmt.Sprintf("%d times", n)
}

// lineNumbers names the lines in which regions start.
func lineNumbers(text string, regions []region) string {
	const shown = 10
	var list []string
	number, at := 1, 0
	for _, r := range regions[:min(len(regions), shown)] {
		number += strings.Count(text[at:r.start], "\n")
		at = r.start
		list = append(list, fmt.Sprint(number))
	}
	if len(regions) > shown {
		list = append(list, "…")
	}
	return "lines " + strings.Join(list, ", ")
}
