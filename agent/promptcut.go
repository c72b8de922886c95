package agent

import (
	"fmt"
	"strings"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
)

// leastCut is the number of tokens below which no prompt is taken to have been
// cut: the smallest windows in use are larger.
const leastCut = 1000

// thoughtEnd ends the thought that servers leave in the text which do not part
// it. The templates of their models leave it out of all but the last answer.
const thoughtEnd = "</think>"

// checkCut tells, once, a count that is too small for the prompt.
func (r *run) checkCut(resp model.Response) error {
	w, counted := &r.window, resp.Usage.Input
	before := w.words
	r.countWords()
	if resp.Usage.Estimated || counted <= 0 {
		return nil
	}
	var told error
	if fewest := r.fewestTokens(before); !w.cut && counted < fewest {
		w.cut = true
		told = r.record(trajectory.Notice{Kind: trajectory.NoticePromptCut, Text: cutPromptText(counted, fewest)})
	}
	if w.input > 0 {
		// A server that always cuts at the same size never counts less than
		// before, so what the words say goes on.
		w.input += w.words - before
	}
	w.input = max(w.input, counted)
	w.thought += max(resp.Usage.Reasoning, mostThought(resp.Reasoning))
	return told
}

// mostThought is by far the most tokens that a thought can have.
func mostThought(text string) int { return len(text) / 2 }

// countWords counts the words of what has been added to the history.
func (r *run) countWords() {
	w := &r.window
	if w.worded == 0 {
		w.words = words(r.opts.System)
	}
	for _, m := range r.history[w.worded:] {
		text := m.Text
		if end := strings.LastIndex(text, thoughtEnd); end >= 0 && m.Role == model.Assistant {
			w.thought += mostThought(text[:end])
			text = text[end+len(thoughtEnd):]
		}
		w.words += words(text)
		for _, c := range m.Calls {
			w.words += words(c.Arguments)
		}
		for _, p := range m.Parts {
			w.words += words(p.Text)
		}
	}
	w.worded = len(r.history)
}

// fewestTokens is the least that a whole prompt can have, or 0 where that tells
// nothing. There were so many words in the last prompt. Tokens do not reach
// over white space, so there are as many as words at least; and a conversation
// that was only added to has at least what it had, less what was thought, and
// the words that came. Tools are left out, for some templates do not show them.
func (r *run) fewestTokens(wordsBefore int) int {
	w := &r.window
	fewest := w.words * 9 / 10
	if w.input > 0 {
		fewest = max(fewest, (w.input-w.thought+w.words-wordsBefore)*4/5)
	}
	if fewest < leastCut {
		return 0
	}
	return fewest
}

// cutPromptText says what a count that is too small means.
func cutPromptText(counted, fewest int) string {
	return fmt.Sprintf("the model's server counted %d tokens in a prompt that has at least %d: unless it leaves out of the count what it "+
		"kept from before, it cuts prompts without a word, and the model does not see all of its task; give the server a larger context "+
		"(OLLAMA_CONTEXT_LENGTH for Ollama, -c for llama.cpp), and belljar the size of it", counted, fewest)
}

// words counts the words of a text, which white space parts. It is called for
// all that a run reads, so it makes no list of them.
func words(text string) int {
	n, inside := 0, false
	for i := range len(text) {
		space := text[i] == ' ' || '\t' <= text[i] && text[i] <= '\r'
		if !space && !inside {
			n++
		}
		inside = !space
	}
	return n
}
