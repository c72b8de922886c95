package tools

import (
	"fmt"
	"regexp"
	"strings"
)

// Lines of a patch that are not lines of a file.
const (
	patchBegin  = "*** Begin Patch"
	patchEnd    = "*** End Patch"
	patchAdd    = "*** Add File:"
	patchUpdate = "*** Update File:"
	patchDelete = "*** Delete File:"
	patchMove   = "*** Move to:"
	patchEOF    = "*** End of File"
	patchHunk   = "@@"
)

// A patchKind is what a patch does to a file.
type patchKind int

const (
	addFile patchKind = iota
	updateFile
	deleteFile
)

// A filePatch is the part of a patch that is about one file.
type filePatch struct {
	kind   patchKind
	path   string
	moveTo string // "" where it stays
	added  string // the content of a file to add
	chunks []chunk
}

// A chunk is one place of a file that is changed.
type chunk struct {
	headers []string // lines that stand before it, in their order
	lines   []patchLine
	atEnd   bool // it is at the end of the file
	// numbered is set where a line number of a unified diff says where it is.
	numbered bool
	// parted is set where empty lines part it from the next chunk. They count
	// as no lines of the file, but may be meant so.
	parted bool
}

// A patchLine is a line that is there (' '), goes ('-') or comes ('+').
type patchLine struct {
	mark byte
	text string
}

// unifiedHeader is what unified diffs have behind "@@": numbers that are
// easily wrong, and a line that stands somewhere before.
var unifiedHeader = regexp.MustCompile(`^-\d+(,\d+)? \+\d+(,\d+)? @@`)

// heredocEnd is what ends a text within a command of a shell.
var heredocEnd = regexp.MustCompile(`^[A-Z_]+[)"']*$`)

// A patchReader reads a patch line by line.
type patchReader struct {
	lines []string
	next  int
}

// parsePatch reads a patch. What is wrong with it is an answer with the number
// of the line.
func parsePatch(text string) ([]filePatch, error) {
	r := &patchReader{lines: strings.Split(fold(text).text, "\n")}
	if err := r.begin(); err != nil {
		return nil, err
	}
	var files []filePatch
	for {
		line, ok := r.line()
		switch trimmed := strings.TrimSpace(line); {
		case !ok:
			return nil, answer("the patch has no line " + patchEnd + ": it was perhaps cut; nothing was changed")
		case trimmed == patchEnd:
			if len(files) == 0 {
				return nil, answer("the patch names no file")
			}
			if more, err := r.goesOn(); !more {
				return files, err
			}
			continue
		case trimmed == "":
			continue
		}
		file, err := r.file(line)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
}

// begin skips what comes before the patch: some models write it as a command of
// a shell, or fenced.
func (r *patchReader) begin() error {
	for i, l := range r.lines {
		l = strings.TrimSpace(l)
		switch {
		case l == patchBegin:
			r.next = i + 1
			return nil
		case l == "" || strings.HasPrefix(l, "```") || strings.Contains(l, "<<"):
			continue
		}
		break
	}
	return answer("the patch must start with the line " + patchBegin + " and end with " + patchEnd)
}

// goesOn looks at what comes after a patch: the end of the fence or of the
// command that it is in, or another patch.
func (r *patchReader) goesOn() (bool, error) {
	for {
		line, ok := r.line()
		switch trimmed := strings.TrimSpace(line); {
		case !ok:
			return false, nil
		case trimmed == patchBegin:
			return true, nil
		case trimmed != "" && trimmed != patchEnd && !strings.HasPrefix(trimmed, "```") && !heredocEnd.MatchString(trimmed):
			return false, r.wrong("%.80q stands behind %s: put all changes before it", line, patchEnd)
		}
	}
}

// line takes the next line.
func (r *patchReader) line() (string, bool) {
	if r.next >= len(r.lines) {
		return "", false
	}
	r.next++
	return r.lines[r.next-1], true
}

// peek is the next line.
func (r *patchReader) peek() string {
	if r.next >= len(r.lines) {
		return ""
	}
	return r.lines[r.next]
}

func (r *patchReader) wrong(format string, args ...any) error {
	return answer(fmt.Sprintf("line %d of the patch: ", r.next) + fmt.Sprintf(format, args...))
}

// file reads the part about one file, which starts with the given line.
func (r *patchReader) file(line string) (f filePatch, err error) {
	for _, start := range []struct {
		text string
		kind patchKind
		read func(*filePatch) error
	}{
		{patchAdd, addFile, r.content},
		{patchUpdate, updateFile, r.chunks},
		{patchDelete, deleteFile, func(*filePatch) error { return nil }},
	} {
		path, found := strings.CutPrefix(strings.TrimSpace(line), start.text)
		if !found {
			continue
		}
		f.kind, f.path = start.kind, strings.TrimSpace(path)
		if f.path == "" {
			return f, r.wrong("%s names no file", start.text)
		}
		return f, start.read(&f)
	}
	return f, r.wrong("%.80q is none of %s, %s, %s and %s", line, patchAdd, patchUpdate, patchDelete, patchEnd)
}

// content reads the lines of a file to add.
func (r *patchReader) content(f *filePatch) error {
	var lines []string
	for r.inside() {
		line, _ := r.line()
		text, plus := strings.CutPrefix(line, "+")
		if !plus && strings.TrimSpace(line) != "" {
			return r.wrong("%.80q does not start with +, as all lines of a file to add do", line)
		}
		lines = append(lines, unspell(text)+"\n")
	}
	f.added = strings.Join(lines[:len(lines)-r.emptyBefore()], "")
	return nil
}

// emptyBefore is how many empty lines come before the next line: they only set
// a part of the patch off from what follows.
func (r *patchReader) emptyBefore() int {
	n := 0
	for r.lines[r.next-1-n] == "" {
		n++
	}
	return n
}

// inside tells whether the next line belongs to the current file.
func (r *patchReader) inside() bool {
	return r.next < len(r.lines) && !strings.HasPrefix(r.peek(), "***")
}

// chunks reads the changes of a file.
func (r *patchReader) chunks(f *filePatch) error {
	if to, moves := strings.CutPrefix(strings.TrimSpace(r.peek()), patchMove); moves {
		r.next++
		if f.moveTo = strings.TrimSpace(to); f.moveTo == "" {
			return r.wrong("%s names no file", patchMove)
		}
	}
	for r.inside() {
		if strings.TrimSpace(r.peek()) == "" { // between chunks
			r.next++
			continue
		}
		c, err := r.chunk()
		if err != nil {
			return err
		}
		f.chunks = append(f.chunks, c)
	}
	if len(f.chunks) == 0 && f.moveTo == "" {
		return r.wrong("%s changes nothing of %q", patchUpdate, f.path)
	}
	return nil
}

// chunk reads one chunk with the headers before it.
func (r *patchReader) chunk() (c chunk, err error) {
	for strings.HasPrefix(r.peek(), patchHunk) {
		line, _ := r.line()
		header := strings.TrimSpace(strings.TrimPrefix(line, patchHunk))
		if numbers := unifiedHeader.FindString(header); numbers != "" {
			c.numbered = true
			continue
		}
		if header != "" {
			c.headers = append(c.headers, unspell(header))
		}
		if len(c.headers) > maxHeaders {
			return c, r.wrong("a chunk may have %d lines %s at most", maxHeaders, patchHunk)
		}
	}
	changes := false
	for r.inside() && !strings.HasPrefix(r.peek(), patchHunk) {
		line, _ := r.line()
		l := patchLine{mark: ' '}
		if line != "" { // an empty line is one whose space was lost
			l = patchLine{line[0], unspell(line[1:])}
		}
		if !strings.ContainsRune(" +-", rune(l.mark)) {
			return c, r.wrong("%.80q starts with none of space, + and -", line)
		}
		changes = changes || l.mark != ' '
		c.lines = append(c.lines, l)
	}
	if strings.TrimSpace(r.peek()) == patchEOF {
		r.next++
		c.atEnd = true
	} else {
		empty := r.emptyBefore()
		c.lines = c.lines[:len(c.lines)-empty]
		c.parted = empty > 0 && strings.HasPrefix(r.peek(), patchHunk)
	}
	if !changes {
		return c, r.wrong("the chunk that ends here has no line that starts with + or -")
	}
	return c, nil
}
