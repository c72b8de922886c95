package agent

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/tools"
)

const (
	// oldKept is what is kept of an old result, in bytes: enough to know what it
	// was about.
	oldKept = 800
	// newestKept is what is kept of a result of the last turns, where they alone
	// are too much. It is halved until they fit.
	newestKept = 32_000
	// worthIt is by how many bytes a text must be longer than what is kept of it
	// to be shortened: a word says what was left out.
	worthIt = 400
)

// shortenResults shortens what is longer in the results from one message to
// another, and reports how many were.
func (r *run) shortenResults(from, to, kept int) int {
	names := map[string]string{}
	for _, m := range r.history[:to] {
		for _, c := range m.Calls {
			names[c.ID] = c.Name
		}
	}
	n := 0
	for i := from; i < to; i++ {
		m := r.history[i]
		if m.Role != model.Tool {
			continue
		}
		if parts, shorter := r.shortenParts(m, names[m.CallID], kept); shorter {
			r.history[i].Parts = parts
			n++
		}
	}
	if n > 0 {
		r.window.changed()
	}
	return n
}

// shortenParts returns the parts of a result, shortened, and whether they are.
// What the message has is not changed: a request may still hold it.
func (r *run) shortenParts(m model.Message, name string, kept int) ([]model.Part, bool) {
	var parts []model.Part
	shorter := false
	for _, p := range m.Parts {
		switch {
		case p.MediaType != "":
			p = model.Part{Text: "[The image is left out here to save room. " + r.again(m.CallID, name) + "]"}
			shorter = true
		case len(p.Text) > kept+worthIt:
			head, tail := ends(p.Text, kept)
			p.Text = fmt.Sprintf("%s\n[%d bytes of this result are left out here to save room. %s]\n%s",
				strings.TrimRight(head, "\n"), len(p.Text)-len(head)-len(tail), r.again(m.CallID, name), tail)
			shorter = true
		}
		parts = append(parts, p)
	}
	return parts, shorter
}

// again says how to come by what was left out of the result of a call.
func (r *run) again(id, name string) string {
	if output, ok := r.window.outputs[id]; ok && r.opts.Outputs != "" {
		return "The whole output is in " + path.Join(r.opts.Outputs, output) + "."
	}
	if effect, known := r.effects[name]; known && effect == tools.Read {
		return "Make the call again if you need it."
	}
	return "What the call did stands; make it again only if you need this and it does no harm."
}

// ends are the beginning and the end of a text, of at most so many bytes
// together: whole lines where lines are short, and never half a character. The
// end gets more, for there stands how it came out.
func ends(text string, most int) (head, tail string) {
	if len(text) <= most {
		return text, ""
	}
	to, from := most*2/5, len(text)-most*3/5
	for to > 0 && !utf8.RuneStart(text[to]) {
		to--
	}
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	if line := strings.LastIndexByte(text[:to], '\n'); line > to/2 {
		to = line + 1
	}
	if line := strings.IndexByte(text[from:], '\n'); line >= 0 && line < (len(text)-from)/2 {
		from += line + 1
	}
	return text[:to], text[from:]
}
