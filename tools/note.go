package tools

import (
	"fmt"
	"slices"
	"strings"
)

// A note is a line, or a part of one, that a tool adds to what a command wrote.
type note struct {
	text string
	// lasting is the text without the passing values.
	lasting string
}

// A passing value is another one each time though nothing has changed: a
// number that belljar or the kernel gave out, or how long something took.
type passing string

// fixed is a note all of which lasts.
func fixed(text string) note { return note{text: text, lasting: text} }

// notef makes a note of a format and values, which may be notes themselves.
func notef(format string, values ...any) note {
	texts, lasting := slices.Clone(values), slices.Clone(values)
	for i, value := range values {
		switch v := value.(type) {
		case note:
			texts[i], lasting[i] = v.text, v.lasting
		case passing:
			lasting[i] = ""
		}
	}
	return note{text: fmt.Sprintf(format, texts...), lasting: fmt.Sprintf(format, lasting...)}
}

// joinNotes puts notes in a row.
func joinNotes(notes []note, between string) note {
	var texts, lasting []string
	for _, n := range notes {
		texts, lasting = append(texts, n.text), append(lasting, n.lasting)
	}
	return note{text: strings.Join(texts, between), lasting: strings.Join(lasting, between)}
}

// bracketed is a result of what a command wrote, or what was done, and after it
// notes in brackets, a line each.
func bracketed(out note, notes []note) Result {
	switch {
	case out.text == "":
		out = fixed("(no output)\n")
	case !strings.HasSuffix(out.text, "\n"):
		out = notef("%s\n", out)
	}
	whole := notef("%s[%s]", out, joinNotes(notes, "]\n["))
	res := Text(whole.text)
	if whole.lasting != whole.text {
		res.Lasting = whole.lasting
	}
	return res
}
