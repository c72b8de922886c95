package agent

import (
	"fmt"
	"strings"

	"github.com/belljar/belljar/agent/model"
)

const (
	// leftOut stands where a text was cut.
	leftOut = "\n[…]\n"
	// mostOfOne is the most that a summary is made from one piece, in bytes, and
	// leastOfOne what there is of it at least.
	mostOfOne, leastOfOne = 4096, 128
)

// transcript writes messages as a text of at most so many bytes. The longest
// pieces are cut first.
func (r *run) transcript(messages []model.Message, most int) string {
	var text string
	for each := mostOfOne; each >= leastOfOne; each -= each / 4 {
		if text = r.transcriptOf(messages, each); len(text) <= most {
			return text
		}
	}
	return clipLines(text, most)
}

// transcriptOf writes messages as a text, at most so many bytes of each piece.
// Every line of a piece is marked: a result comes from anywhere, and may not end
// the transcript or speak for somebody else.
func (r *run) transcriptOf(messages []model.Message, each int) string {
	var out strings.Builder
	write := func(what, text string) {
		fmt.Fprintf(&out, "%s:\n%s\n", what, mark(r.clip(text, each)))
	}
	for _, m := range messages {
		if strings.TrimSpace(m.Text) != "" {
			write(string(m.Role), m.Text)
		}
		for _, c := range m.Calls {
			// The model has made up the name, too.
			write("call of "+strings.Join(strings.Fields(r.clip(c.Name, leastOfOne)), " "), c.Arguments)
		}
		for _, text := range r.wholeTexts(m) {
			write("result", text)
		}
	}
	return out.String()
}

// clip cuts a text in its middle. Secrets are hidden before, for the half of one
// is found by nothing.
func (r *run) clip(text string, most int) string { return clip(r.masked(cleanText(text)), most) }

// masked hides the secrets of a text.
func (r *run) masked(text string) string {
	if r.opts.Mask == nil {
		return text
	}
	return r.opts.Mask(text)
}

// clip cuts a text in its middle.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := ends(text, most)
	return strings.TrimRight(head, "\n") + leftOut + tail
}

// clipLines cuts a text in its middle at the ends of lines, so that each line
// keeps its mark.
func clipLines(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := ends(text, most)
	head = head[:strings.LastIndexByte(head, '\n')+1]
	if from := len(text) - len(tail); from > 0 && text[from-1] != '\n' {
		_, tail, _ = strings.Cut(tail, "\n")
	}
	return strings.TrimRight(head, "\n") + leftOut + tail
}
