package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belljar/belljar/internal/output"
)

// A region is a part of a text.
type region struct{ start, end int }

// folded is a text with every CRLF made LF, which is where old is looked for.
type folded struct {
	text string
	crlf []int // the positions in text of newlines that were CRLF, ascending
	// mixed is set where other newlines were not.
	mixed bool
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
	f.mixed = strings.Count(f.text, "\n") > len(f.crlf)
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

// withEnds writes a text with the given line ends, the last of which stands for
// all further ones. A CRLF in it is kept where asked for.
func withEnds(text string, ends []string, keepCRLF bool) string {
	var b strings.Builder
	for n := 0; ; n++ {
		before, after, found := strings.Cut(text, "\n")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if keepCRLF && strings.HasSuffix(before, "\r") {
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

func placesFound(n int) string {
	if n > maxFound {
		return fmt.Sprintf("more than %d places", maxFound)
	}
	return output.Count(int64(n), "place")
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

// spanned names the lines that a region takes in.
func spanned(text string, r region) string {
	first := 1 + strings.Count(text[:r.start], "\n")
	last := first + strings.Count(strings.TrimSuffix(text[r.start:r.end], "\n"), "\n")
	if first == last {
		return fmt.Sprintf("line %d", first)
	}
	return fmt.Sprintf("lines %d-%d", first, last)
}
