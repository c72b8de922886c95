package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/belljar/belljar/internal/output"
)

const (
	// diffChars and diffLineChars bound the diff that the model is shown.
	diffChars     = 8000
	diffLineChars = 500
	// diffRegions is how many replacements are shown.
	diffRegions  = 50
	contextLines = 3 // lines around a change, as in every diff
)

// diff is the change as a bounded unified diff. Only the lines around the
// replacements are compared, so the cost is that of the edit, not of the file.
func (e edited) diff(name string) string {
	var (
		text  = e.before.text
		hunks []*udiff.Hunk
		shift int // how many lines the edit has added so far
		line  = 1 // the number of the line at
		at    int
	)
	n := min(len(e.regions), diffRegions)
	for i := 0; i < n; {
		start, end := around(text, e.regions[i])
		j := i + 1
		// Replacements whose surroundings touch share a hunk.
		for j < n && lineStart(text, e.regions[j].start, contextLines) <= end {
			_, end = around(text, e.regions[j])
			j++
		}
		line += strings.Count(text[at:start], "\n")
		at = start
		old, after := text[start:end], e.after(start, end, i, j)
		if start == 0 {
			old, after = withoutMark(old, after)
		}
		old, after = narrow(old, after)
		old = visible(old)
		edits := udiff.Lines(old, visible(after))
		u, err := udiff.ToUnifiedDiff(name, name, old, edits, contextLines)
		if err != nil {
			return fmt.Sprintf("[the diff cannot be shown: %v]\n", err)
		}
		for _, h := range u.Hunks {
			h.FromLine += line - 1
			h.ToLine = h.FromLine + shift
			shift += added(h)
			hunks = append(hunks, h)
		}
		i = j
	}
	if len(hunks) == 0 {
		return "[only line ends changed]\n"
	}
	diff := bound(udiff.UnifiedDiff{From: name, To: name, Hunks: hunks}.String())
	if more := len(e.regions) - n; more > 0 {
		diff += fmt.Sprintf("[%s not shown]\n", output.Count(int64(more), "further replacement"))
	}
	return diff
}

// withoutMark leaves out the byte order mark that both texts of a file start
// with: read_file does not show it, and grep does not look at it.
func withoutMark(a, b string) (string, string) {
	bareA, okA := strings.CutPrefix(a, bom)
	bareB, okB := strings.CutPrefix(b, bom)
	if !okA || !okB {
		return a, b
	}
	return bareA, bareB
}

// narrow cuts the line that two texts begin to differ in, and the one in which
// they end to, to what is around that: a line can be of any length, and its
// beginning would not show the change.
func narrow(a, b string) (string, string) {
	const kept = diffLineChars / 4
	head := commonPrefix(a, b)
	line := strings.LastIndexByte(a[:head], '\n') + 1
	cutHead := runeStart(a, head-kept)
	tail := commonSuffix(a[head:], b[head:])
	rest := strings.IndexByte(a[len(a)-tail:], '\n')
	if rest < 0 {
		rest = tail
	}
	cutTail := len(a) - tail + kept
	if rest > kept {
		cutTail = runeStart(a, cutTail)
		b = b[:len(b)-len(a)+cutTail] + "…" + b[len(b)-tail+rest:]
		a = a[:cutTail] + "…" + a[len(a)-tail+rest:]
	}
	if head-line > kept {
		a, b = a[:line]+"…"+a[cutHead:], b[:line]+"…"+b[cutHead:]
	}
	return a, b
}

func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// runeStart is the start of the character that holds a place, as far as the
// text is of characters.
func runeStart(text string, at int) int {
	for n := 0; at > 0 && at < len(text) && n < utf8.UTFMax && !utf8.RuneStart(text[at]); n++ {
		at--
	}
	return at
}

// after is a part of the text with the regions from i up to j replaced.
func (e edited) after(start, end, i, j int) string {
	var b strings.Builder
	for ; i < j; i++ {
		b.WriteString(e.before.text[start:e.regions[i].start])
		b.WriteString(e.news[i])
		start = e.regions[i].end
	}
	b.WriteString(e.before.text[start:end])
	return b.String()
}

// around is a region with the lines around it, whole lines.
func around(text string, r region) (start, end int) {
	start, end = lineStart(text, r.start, contextLines), r.end
	// What follows the region belongs to its last line, unless that line is
	// ended in it; one line more does no harm then.
	for range contextLines + 1 {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			return start, len(text)
		}
		end += i + 1
	}
	return start, end
}

// lineStart is where the line that holds i starts, or the one n lines before.
func lineStart(text string, i, n int) int {
	for ; n >= 0; n-- {
		if i = strings.LastIndexByte(text[:i], '\n'); i < 0 {
			return 0
		}
	}
	return i + 1
}

func added(h *udiff.Hunk) int {
	n := 0
	for _, l := range h.Lines {
		switch l.Kind {
		case udiff.Insert:
			n++
		case udiff.Delete:
			n--
		}
	}
	return n
}

// bound clips the lines of a diff, and leaves out what is too much of it.
func bound(diff string) string {
	var b strings.Builder
	chars := 0
	lines := strings.SplitAfter(diff, "\n")
	for i, l := range lines {
		if utf8.RuneCountInString(l) > diffLineChars {
			l = string([]rune(l)[:diffLineChars]) + "…\n"
		}
		if chars += utf8.RuneCountInString(l); chars > diffChars {
			fmt.Fprintf(&b, "[%s of the diff not shown]\n", output.Count(int64(len(lines)-i), "further line"))
			break
		}
		b.WriteString(l)
	}
	return b.String()
}
