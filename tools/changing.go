package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/internal/workspace"
)

const (
	// MaxEditBytes is the size of the largest file that is edited: it is held
	// in memory a few times over.
	MaxEditBytes = 10 << 20
	// maxCallBytes bounds all files that one call edits, and maxCallFiles
	// their number.
	maxCallBytes = 4 * MaxEditBytes
	maxCallFiles = 100
	// maxProblems is how many reasons not to change a file, and how many such
	// files, one answer tells: finding the nearest lines takes time.
	maxProblems = 8
	// answerChars bounds what one answer tells of several files.
	answerChars = 3 * diffChars
)

// An answer is an error that is told to the model.
type answer string

func (a answer) Error() string { return string(a) }

// changing is what the tools that change files have in common: the workspace,
// and what the agent knows of its files.
type changing struct {
	workspace *workspace.Workspace
	seen      *Seen
}

// A call is one call that changes files.
type call struct {
	changing
	changes  *workspace.Changes
	bytes    int64 // held of files
	files    int   // named in the call
	problems []problem
	outcomes []*outcome
}

type problem struct {
	path string
	err  error
}

// An outcome is what was done to one file.
type outcome struct {
	target *workspace.Target
	path   string // as it was given
	text   string // what to tell, "" where another outcome tells it
	notes  []string
	diff   string
	edited edited // where the file was edited
	known  bool   // the agent knows the file afterwards
	gone   bool
	same   bool // nothing had to be done
}

// run makes all changes that plan asks for, of so many files, or none.
func (c changing) run(ctx context.Context, files int, plan func(*call) error) (Result, error) {
	if files > maxCallFiles {
		return Error(fmt.Sprintf("a call may change %d files at most, and this one names %d: make several calls", maxCallFiles, files)), nil
	}
	k := &call{changing: c, files: files}
	err := c.workspace.Change(func(changes *workspace.Changes) error {
		k.changes = changes
		if err := plan(k); err != nil {
			return err
		}
		return k.problem(ctx)
	})
	var told answer
	switch {
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return canceled(), nil
	case errors.As(err, &told):
		return Error(string(told)), nil
	case err != nil && files > 1 && !errors.Is(err, workspace.ErrPartly):
		res, err := refusal(err)
		if err == nil {
			res = Error("nothing was changed: " + res.Parts[0].Text)
		}
		return res, err
	case err != nil:
		return refusal(err)
	}
	res := Text(k.told())
	res.Files = k.left()
	return res, nil
}

// left are the files of the call as it left them.
func (k *call) left() []FileSum {
	var files []FileSum
	for _, o := range k.outcomes {
		sum := o.target.Version.SHA256()
		if o.gone {
			sum = ""
		}
		if o.gone || sum != "" {
			files = append(files, FileSum{o.target.Name, sum})
		}
	}
	return files
}

// told tells the model what was done, and remembers it for the agent.
func (k *call) told() string {
	var told strings.Builder
	left := answerChars
	for _, o := range k.outcomes {
		k.remember(o)
		if o.text == "" {
			continue
		}
		if left -= utf8.RuneCountInString(o.diff); left < 0 && o.diff != "" {
			o.diff = "[the diff is not shown: there are too many]\n"
		}
		for _, note := range o.notes {
			left -= utf8.RuneCountInString(note)
		}
		if left < 0 && len(o.notes) > 0 {
			o.notes = []string{output.Count(int64(len(o.notes)), "note") + " on it not shown: there are too many"}
		}
		if told.Len() > 0 && !strings.HasSuffix(told.String(), "\n") {
			told.WriteByte('\n')
		}
		told.WriteString(o.String())
	}
	return told.String()
}

func (k *call) remember(o *outcome) {
	switch {
	case o.gone:
		k.seen.forget(o.target.Name)
	case o.known:
		k.seen.saw(o.target.Name, o.target.ID, o.target.Version)
	}
}

// String tells the model what was done.
func (o *outcome) String() string {
	text := o.text + via(o.path, o.target.Name, o.target.Linked)
	notes := o.notes
	if o.target.Exists && o.target.Names > 1 && !o.gone && !o.same {
		notes = append(notes, fmt.Sprintf("the file had %s (hard links), which still have the old content", output.Count(int64(o.target.Names-1), "other name")))
	}
	for _, note := range notes {
		text += "\n[" + note + "]"
	}
	if o.diff != "" {
		text += "\n" + o.diff
	}
	return text
}

// wrong notes what keeps a file from being changed, so that the model hears of
// all of it at once. An error that the model cannot put right is returned.
func (k *call) wrong(path string, err error) error {
	var (
		told    answer
		refused *workspace.Refusal
	)
	if !errors.As(err, &told) && !errors.As(err, &refused) {
		return err
	}
	k.problems = append(k.problems, problem{path, err})
	return nil
}

// full tells whether so much is wrong that the rest is not looked at.
func (k *call) full() bool { return len(k.problems) >= maxProblems }

// problem words what was noted as an answer, or is nil.
func (k *call) problem(ctx context.Context) error {
	if len(k.problems) == 0 {
		return nil
	}
	var texts []string
	for _, p := range k.problems {
		text := p.err.Error()
		var told answer
		switch {
		case errors.Is(p.err, fs.ErrNotExist):
			text += similar(ctx, k.workspace, p.path)
		case errors.As(p.err, &told) && k.files == 1:
			text = fmt.Sprintf("%s was not changed: %s", visibleName(p.path), told)
		case errors.As(p.err, &told):
			text = fmt.Sprintf("%s: %s", visibleName(p.path), told)
		}
		texts = append(texts, text)
	}
	if k.full() {
		texts = append(texts, "what comes after it in the call was not looked at")
	}
	if k.files == 1 {
		return answer(strings.Join(texts, "\n"))
	}
	return answer("nothing was changed, in none of the files:\n- " + strings.Join(texts, "\n- "))
}

// existing is a file that is going to be changed, with its content, and whether
// the agent has seen it. One that has changed since is an answer.
func (k *call) existing(path string) (t *workspace.Target, content []byte, seen bool, err error) {
	if t, err = k.changes.Existing(path); err != nil {
		return nil, nil, false, err
	}
	if t.Size() > MaxEditBytes {
		return nil, nil, false, answer(fmt.Sprintf("it is over %s, the most that is edited here: use bash with sed or a script", output.Size(MaxEditBytes)))
	}
	if k.bytes += t.Size(); k.bytes > maxCallBytes {
		return nil, nil, false, answer(fmt.Sprintf("with it the files of this call are over %s: make several calls", output.Size(maxCallBytes)))
	}
	if content, err = t.Content(MaxEditBytes); err != nil {
		return nil, nil, false, err
	}
	switch k.seen.of(k.workspace, t) {
	case stale:
		return nil, nil, false, answer(changedSince)
	case current:
		seen = true
	}
	return t, content, seen, nil
}

// changedSince answers a change that goes by an old version.
const changedSince = "it has changed since you last read or wrote it: read it again, then make the change to what it holds now"

// staysUTF16 is a note on a file that the model sees as any other.
const staysUTF16 = "the file is UTF-16, and stays so"

// edit plans an edit of one file and gives its new content, which the caller
// has written. edit gets the text, and whether matches that are not exact may
// be taken.
func (k *call) edit(path string, edit func(text string, tolerant bool) (edited, error)) (*outcome, []byte, error) {
	t, content, seen, err := k.existing(path)
	if err != nil {
		return nil, nil, err
	}
	text, kept, err := decodeText(content)
	if err != nil {
		return nil, nil, err
	}
	done, err := edit(text, seen)
	if err != nil {
		return nil, nil, err
	}
	data, err := kept.encode(done.content)
	if err != nil {
		return nil, nil, err
	}
	o := &outcome{target: t, path: path, known: seen, text: "edited " + visibleName(t.Name), notes: done.notes, edited: done}
	if kept != asIs {
		o.notes = append(o.notes, staysUTF16)
	}
	k.outcomes = append(k.outcomes, o)
	return o, data, nil
}
