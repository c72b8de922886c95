package agent

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
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

// A whole is what a part of a result was before it was shortened.
type whole struct {
	text string // as much of it as a summary is made from
	size int    // in bytes
}

// squeeze shortens the results from one message to another by as little as
// makes the conversation have at most so many tokens, and says which. Images,
// which cannot be had in part, are left out last.
func (r *run) squeeze(from, to, most int) trajectory.Shortened {
	history := r.history
	var done trajectory.Shortened
	for kept := newestKept; r.size() > most && kept >= oldKept; kept /= 2 {
		r.history = slices.Clone(history)
		done = r.shorten(from, to, kept, false)
	}
	if r.size() > most {
		r.history = slices.Clone(history)
		done = r.shorten(from, to, oldKept, true)
	}
	return done
}

// shorten shortens what is longer in the results from one message to another,
// leaves out their images or not, and says of which calls they are.
func (r *run) shorten(from, to, kept int, images bool) trajectory.Shortened {
	names := map[string]string{}
	for _, m := range r.history[:to] {
		for _, c := range m.Calls {
			names[c.ID] = c.Name
		}
	}
	done := trajectory.Shortened{Kept: kept}
	for i := from; i < to; i++ {
		m := r.history[i]
		if m.Role != model.Tool {
			continue
		}
		if parts, shorter := r.shortenParts(m, names[m.CallID], kept, images); shorter {
			r.history[i].Parts = parts
			done.Calls = append(done.Calls, m.CallID)
			done.Images = done.Images || images && slices.ContainsFunc(m.Parts, isImage)
		}
	}
	if len(done.Calls) > 0 {
		r.window.changed()
	}
	return done
}

// shortenParts returns the parts of a result, shortened, and whether they are.
// What the message has is not changed: a request may still hold it.
func (r *run) shortenParts(m model.Message, name string, kept int, images bool) ([]model.Part, bool) {
	parts := slices.Clone(m.Parts)
	shorter := false
	for i, p := range parts {
		switch {
		case isImage(p):
			if images {
				r.keepWhole(m)
				parts[i] = model.Part{Text: "[The image is left out here to save room. " + r.again(m.CallID, name) + "]"}
				shorter = true
			}
		case len(p.Text) > kept+worthIt:
			size := r.keepWhole(m)[i].size
			head, tail := ends(r.masked(p.Text), kept)
			parts[i].Text = fmt.Sprintf("%s\n[%d bytes of this result are left out here to save room. %s]\n%s",
				strings.TrimRight(head, "\n"), size-len(head)-len(tail), r.again(m.CallID, name), tail)
			shorter = true
		}
	}
	return parts, shorter
}

// keepWhole remembers what a result is, unless it has been shortened before.
func (r *run) keepWhole(m model.Message) []whole {
	w := &r.window
	if kept, known := w.wholes[m.CallID]; known {
		return kept
	}
	var parts []whole
	for _, p := range m.Parts {
		text := r.masked(p.Text)
		parts = append(parts, whole{clip(partText(p, text), mostOfOne), len(text)})
	}
	if w.wholes == nil {
		w.wholes = map[string][]whole{}
	}
	w.wholes[m.CallID] = parts
	return parts
}

// wholeTexts are the texts of a result as they were before it was shortened, or
// as much of them as a summary is made from.
func (r *run) wholeTexts(m model.Message) []string {
	var texts []string
	if kept, known := r.window.wholes[m.CallID]; known {
		for _, p := range kept {
			texts = append(texts, p.text)
		}
		return texts
	}
	for _, p := range m.Parts {
		texts = append(texts, partText(p, p.Text))
	}
	return texts
}

func isImage(p model.Part) bool { return p.MediaType != "" }

// partText is a text, or a word for an image.
func partText(p model.Part, text string) string {
	if isImage(p) {
		return "(an image)"
	}
	return text
}

// again says how to come by what was left out of the result of a call.
func (r *run) again(id, name string) string {
	if output, ok := r.window.outputs[id]; ok && r.opts.Outputs != "" {
		return "What was kept of the output is in " + path.Join(r.opts.Outputs, output) + "."
	}
	effect, known := r.effects[name]
	switch {
	case r.once[name]:
		return "The same call does not give it again."
	case known && effect == tools.Read:
		return "Make the call again if you need it."
	default:
		return "What the call did stands; make it again only if you need this and it does no harm."
	}
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
