package ui

import (
	"strconv"
	"strings"
)

const (
	// editLines is how many lines of diffs one result shows together.
	editLines = 12
	// editTexts is how many lines about files it shows.
	editTexts = 12
)

// An editBlock is one line that a result says, mostly of one file, and the
// lines of the diff below it.
type editBlock struct {
	text contentLine
	diff []contentLine
}

// previewEdits picks what is shown of a result with diffs: a line for each
// file, with how many lines came and went, and of the diffs what changed rather
// than what is around it.
func previewEdits(lines []contentLine, width int) []contentLine {
	blocks := editBlocks(lines)
	more := 0
	if len(blocks)-editTexts >= leastHidden {
		more = len(blocks) - editTexts
		blocks = blocks[:editTexts]
	}
	diffs, total, changed := 0, 0, 0
	for _, b := range blocks {
		if len(b.diff) > 0 {
			diffs++
		}
		total += len(b.diff)
		changed += len(without(b.diff, kindContext))
	}
	var shown []contentLine
	for _, b := range blocks {
		shown = append(shown, b.text)
		diff := b.diff
		if total > editLines {
			diff = without(diff, kindContext)
		}
		if total > editLines && changed > editLines {
			diff = fewest(without(diff, kindHunk), editLines/max(diffs, 1))
		}
		shown = append(shown, aroundChanges(diff, width)...)
	}
	if more > 0 {
		shown = append(shown, contentLine{text: "… " + Plural(more, "more line")})
	}
	return shown
}

// editBlocks splits a result at its files. The lines that name the file of a
// diff become part of what the tool says of it.
func editBlocks(lines []contentLine) []editBlock {
	var blocks []editBlock
	said := 0 // the first block that may be about the file of the next diff
	for i := 0; i < len(lines); i++ {
		if lines[i].kind != kindHeader {
			blocks = append(blocks, editBlock{text: lines[i]})
			continue
		}
		from, to, end := lines[i].text, "", i+1
		if end < len(lines) && lines[end].kind == kindHeader {
			to, end = lines[end].text, end+1
		}
		start := end
		for end < len(lines) && lines[end].kind > kindHeader {
			end++
		}
		cut := end < len(lines) && strings.HasPrefix(lines[end].text, "[") && strings.HasSuffix(lines[end].text, " not shown]")
		blocks = countChanges(blocks, said, diffName(from, to), lines[start:end], cut)
		said = len(blocks)
		i = end - 1
	}
	return blocks
}

// countChanges adds a diff below the last block, and its counts to the line
// that names its file, which is made where there is none. cut: the diff is not
// all of it.
func countChanges(blocks []editBlock, said int, name string, diff []contentLine, cut bool) []editBlock {
	at := len(blocks) - 1
	for at >= said && !strings.Contains(blocks[at].text.text, name) {
		at--
	}
	if at < said {
		at = len(blocks)
		blocks = append(blocks, editBlock{text: contentLine{text: name}})
	}
	added, removed := 0, 0
	for _, line := range diff {
		switch line.kind {
		case kindAdded:
			added++
		case kindRemoved:
			removed++
		}
	}
	blocks[at].text.text += " · +" + strconv.Itoa(added) + " -" + strconv.Itoa(removed)
	if cut {
		blocks[at].text.text += " or more"
	}
	blocks[len(blocks)-1].diff = diff
	return blocks
}

// diffName is the file that the two lines at the beginning of a diff name.
func diffName(from, to string) string {
	if name, ok := strings.CutPrefix(to, "+++ "); ok && name != "/dev/null" {
		return name
	}
	return strings.TrimPrefix(from, "--- ")
}

// without drops the lines of one kind.
func without(lines []contentLine, kind lineKind) []contentLine {
	var kept []contentLine
	for _, line := range lines {
		if line.kind != kind {
			kept = append(kept, line)
		}
	}
	return kept
}

// fewest picks at most limit changed lines: of every place the first line that
// went and the first that came, then the second ones, so that each place is
// seen before any is seen whole. Less than two would show nothing.
func fewest(lines []contentLine, limit int) []contentLine {
	if limit < 2 {
		return nil
	}
	if len(lines)-limit < leastHidden {
		return lines
	}
	picked := make([]bool, len(lines))
	for round, left := 0, limit; left > 0; round++ {
		for i, at := range places(lines) {
			if at == round && left > 0 {
				picked[i] = true
				left--
			}
		}
	}
	var kept []contentLine
	for i, line := range lines {
		if picked[i] {
			kept = append(kept, line)
		}
	}
	return append(kept, contentLine{text: "… " + Plural(len(lines)-limit, "more changed line")})
}

// places tells of each changed line how many of its kind stand directly before
// it.
func places(lines []contentLine) []int {
	at := make([]int, len(lines))
	for i := 1; i < len(lines); i++ {
		if lines[i].kind == lines[i-1].kind {
			at[i] = at[i-1] + 1
		}
	}
	return at
}

// aroundChanges leaves out the beginning of long lines that only differ behind
// the edge of the screen.
func aroundChanges(lines []contentLine, width int) []contentLine {
	lines = append([]contentLine{}, lines...)
	for i := 0; i < len(lines); i++ {
		gone := i
		for i < len(lines) && lines[i].kind == kindRemoved {
			i++
		}
		for j := 0; gone+j < i && i+j < len(lines) && lines[i+j].kind == kindAdded; j++ {
			lines[gone+j].text, lines[i+j].text = aroundChange(lines[gone+j].text, lines[i+j].text, width)
		}
	}
	return lines
}

// aroundChange cuts the common beginning of a line that went and of the one
// that came for it, where their first difference would not be seen.
func aroundChange(old, after string, width int) (string, string) {
	a, b := []rune(expandTabs(old)), []rune(expandTabs(after))
	same := 1 // the marks differ
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	before := width / 4
	if widths().StringWidth(string(a[:same])) <= width*3/4 || same <= before+1 {
		return old, after
	}
	return string(a[0]) + "…" + string(a[same-before:]), string(b[0]) + "…" + string(b[same-before:])
}
