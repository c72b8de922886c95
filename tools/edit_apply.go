package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/belljar/belljar/internal/output"
)

// edited is what edits made of a text.
type edited struct {
	content string
	before  folded
	regions []region // in before, ascending
	news    []string // what replaced each, line ends folded
	places  int      // how many occurrences of old texts were rewritten
	notes   []string // what the model must know of how they were found
	// notesLeft counts the notes beyond maxNotes.
	notesLeft int
}

// maxNotes is how many places of one file are told of by themselves.
const maxNotes = 8

func (e *edited) note(text string) {
	switch {
	case text == "":
	case len(e.notes) < maxNotes:
		e.notes = append(e.notes, text)
	default:
		e.notesLeft++
	}
}

// applyEdits makes all of the edits, each looked for in the content as it is.
// What keeps one from being made is an answer, and so is what keeps several.
// tolerant allows matches that are not exact.
func applyEdits(ctx context.Context, content string, edits []edit, tolerant bool) (edited, error) {
	var (
		f        = newSubject(content)
		found    []placed
		problems []string
		about    []string
	)
	for _, e := range edits {
		about = append(about, e.old, e.new)
	}
	if err := refuseBinary(content, about); err != nil {
		return edited{}, err
	}
	for i, e := range edits {
		if len(problems) == maxProblems {
			problems = append(problems, "the edits after it were not looked at")
			break
		}
		if err := ctx.Err(); err != nil {
			return edited{}, err
		}
		matches, err := e.locate(f, tolerant)
		if err == nil {
			err = e.mixes(f)
		}
		if err != nil {
			problems = append(problems, ofEdits(i, len(edits))+err.Error()+ofOthers(e, edits[:i]))
		}
		if len(found)+len(matches) > maxPlaces {
			return edited{}, answer(fmt.Sprintf("the edits are about more than %d places: make several calls", maxPlaces))
		}
		for _, m := range matches {
			found = append(found, placed{m, i})
		}
	}
	if problems == nil {
		problems = overlaps(f.text, found)
	}
	if problems != nil {
		return edited{}, answer(strings.Join(problems, "\n"))
	}
	return f.apply(content, found)
}

// A placed match is that of the edit with a number, from 0.
type placed struct {
	match
	edit int
}

// ofEdits names one of several edits.
func ofEdits(i, n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf("edit %d of %d: ", i+1, n)
}

// ofOthers helps where an edit is about what one before it would have made.
func ofOthers(e edit, before []edit) string {
	for i, other := range before {
		if strings.Contains(other.new, e.old) && !strings.Contains(other.old, e.old) {
			return fmt.Sprintf(" It stands in the new_text of edit %d, but all edits of a call are about the file as it was before: put both into one edit.", i+1)
		}
	}
	return ""
}

// overlaps puts matches in the order of the text and tells which of them are
// about the same bytes, the first few pairs of edits.
func overlaps(text string, found []placed) []string {
	slices.SortStableFunc(found, func(a, b placed) int { return a.span.start - b.span.start })
	var (
		problems []string
		told     = make(map[[2]int]bool)
	)
	for i := 1; i < len(found) && len(problems) < maxProblems; i++ {
		before, after := found[i-1], found[i]
		pair := [2]int{min(before.edit, after.edit) + 1, max(before.edit, after.edit) + 1}
		if after.span.start < before.span.end && !told[pair] {
			told[pair] = true
			problems = append(problems, fmt.Sprintf("edits %d and %d overlap (%s): make one of them", pair[0], pair[1], spanned(text, after.span)))
		}
	}
	return problems
}

// apply makes the changes of matches that are in order.
func (f folded) apply(content string, found []placed) (edited, error) {
	size := len(content)
	for _, m := range found {
		for _, o := range m.ops {
			size += len(o.text) - (o.end - o.start)
		}
	}
	if size > MaxEditBytes && size > len(content) {
		return edited{}, answer(fmt.Sprintf("it would be over %s, the most that is edited here: use bash with sed or a script", output.Size(MaxEditBytes)))
	}
	done := edited{before: f, places: len(found)}
	var b strings.Builder
	b.Grow(size)
	at, near := 0, lineEnds{folded: f}
	for _, m := range found {
		done.note(m.note)
		for _, o := range m.ops {
			text := withEnds(o.text, near.of(o), m.keepCRLF)
			b.WriteString(content[at:f.original(o.start)])
			b.WriteString(text)
			at = f.original(o.end)
			done.regions = append(done.regions, o.region)
			done.news = append(done.news, fold(text).text)
		}
	}
	if done.notesLeft > 0 {
		done.notes = append(done.notes, "and so for "+output.Count(int64(done.notesLeft), "further place"))
	}
	b.WriteString(content[at:])
	if done.content = b.String(); done.content == content {
		return edited{}, answer("the new text would make the same bytes as are there")
	}
	return done, nil
}

// mixes refuses to write UTF-8 into a text in an older encoding, in which the
// new characters would be unreadable. What is spelled byte by byte is as meant.
func (e edit) mixes(s *subject) error {
	if isASCII(e.new) || strings.Contains(e.old, e.new) || !s.legacy() {
		return nil
	}
	for _, r := range e.new {
		if r >= utf8.RuneSelf && r != utf8.RuneError && !strings.ContainsRune(e.old, r) {
			return answer(fmt.Sprintf("it is not UTF-8 but in an older encoding, where %q would become unreadable: spell its bytes as %s in that encoding, or convert the file first", r, spellForm))
		}
	}
	return nil
}

// legacy tells whether a text has bytes that are not UTF-8, and none that are
// but ASCII.
func legacy(content string) bool {
	invalid := false
	for i := 0; i < len(content); {
		if content[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(content[i:])
		if r != utf8.RuneError {
			return false
		}
		invalid = true
		i += size
	}
	return invalid
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
