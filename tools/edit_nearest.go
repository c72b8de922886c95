package tools

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const (
	// nearLines and nearChars bound what is shown of the nearest place.
	nearLines = 12
	nearChars = 200
	// comparedLines is how many lines of the old text are looked for, and
	// comparedBytes how much of a line is compared.
	comparedLines = 6
	comparedBytes = 400
	// alike is the least likeness, from 0 to 1, that is worth showing.
	alike = 0.5
)

// numbered is how read_file shows a line.
var numbered = regexp.MustCompile(`^ *[0-9]+\t`)

// nearest helps a model whose old text is not in the file: it says what is
// wrong with it where that can be told, and shows the place that is most like
// it with white space made visible.
func nearest(text, old string) string {
	lines, wanted := strings.Split(text, "\n"), strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	if at := sameButSpace(lines, wanted); at >= 0 {
		return "These lines differ from it in white space only:\n" + shownLines(lines, at, len(wanted))
	}
	if bare := withoutNumbers(wanted); bare != nil && sameButSpace(lines, bare) >= 0 {
		return "It starts with the line numbers that read_file shows, which are not in the file: leave them out."
	}
	best, key, weight := 0, 0, 0.0
	for _, k := range longest(wanted) {
		compare := newComparer(wanted[k])
		for i, l := range lines {
			// A long line that is alike says more than a short one.
			if got := compare.likeness(l); got >= alike && got*float64(compare.n) > weight {
				best, key, weight = i, k, got*float64(compare.n)
			}
		}
	}
	if weight == 0 {
		return "No line is like it: read the file again."
	}
	return "The nearest lines are:\n" + shownLines(lines, max(best-key, 0), len(wanted))
}

// longest gives the numbers of the longest lines, which tell most about a
// place.
func longest(lines []string) []int {
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return len(strings.TrimSpace(lines[b])) - len(strings.TrimSpace(lines[a]))
	})
	return order[:min(len(order), comparedLines)]
}

// withoutNumbers are lines without the numbers that they all start with, nil
// where one has none.
func withoutNumbers(lines []string) []string {
	bare := make([]string, len(lines))
	for i, l := range lines {
		number := numbered.FindString(l)
		if number == "" {
			return nil
		}
		bare[i] = l[len(number):]
	}
	return bare
}

// sameButSpace finds lines that are the wanted ones when white space is left
// aside, or gives -1.
func sameButSpace(lines, wanted []string) int {
	squashed := make([]string, len(wanted))
	blank := true
	for i, l := range wanted {
		squashed[i] = strings.Join(strings.Fields(l), "")
		blank = blank && squashed[i] == ""
	}
	if blank {
		return -1
	}
	have := make([]string, len(lines))
	for i, l := range lines {
		have[i] = strings.Join(strings.Fields(l), "")
	}
	for at := range len(have) - len(squashed) + 1 {
		same := true
		for i, want := range squashed {
			if have[at+i] != want {
				same = false
				break
			}
		}
		if same {
			return at
		}
	}
	return -1
}

// A comparer tells how like lines are to one line, by the pairs of
// neighbouring bytes that they share.
type comparer struct {
	pairs [256]int16 // how often each pair occurs, pairs told apart by a hash
	n     int
}

func newComparer(line string) *comparer {
	c := &comparer{}
	line = compared(line)
	for i := 1; i < len(line); i++ {
		c.pairs[pair(line[i-1], line[i])]++
	}
	c.n = max(len(line)-1, 0)
	return c
}

func compared(line string) string {
	line = strings.TrimSpace(line)
	return line[:min(len(line), comparedBytes)]
}

func pair(a, b byte) byte { return a*31 ^ b }

func (c *comparer) likeness(line string) float64 {
	line = compared(line)
	if c.n == 0 || len(line) < 2 {
		return 0
	}
	left, shared := c.pairs, 0
	for i := 1; i < len(line); i++ {
		if h := pair(line[i-1], line[i]); left[h] > 0 {
			left[h]--
			shared++
		}
	}
	return 2 * float64(shared) / float64(c.n+len(line)-1)
}

// shownLines shows some lines with their numbers, and their white space where
// it is easily mistaken.
func shownLines(lines []string, at, n int) string {
	end := min(at+n, len(lines))
	shown := min(end, at+nearLines)
	var b strings.Builder
	for i := at; i < shown; i++ {
		fmt.Fprintf(&b, "%6d|%s\n", i+1, showSpace(lines[i]))
	}
	if end > shown {
		fmt.Fprintf(&b, "… and %d more lines\n", end-shown)
	}
	b.WriteString("(→ is a tab, · a space at the start or end of a line)")
	return b.String()
}

func showSpace(l string) string {
	inner := strings.Trim(l, " \t")
	lead := strings.Index(l, inner)
	mark := strings.NewReplacer(" ", "·", "\t", "→")
	l = mark.Replace(l[:lead]) + strings.ReplaceAll(inner, "\t", "→") + mark.Replace(l[lead+len(inner):])
	shown, used, _ := visibleUpTo(l, nearChars)
	if used < len(l) {
		shown += "…"
	}
	return shown
}
