package agent

import (
	"fmt"
	"path"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
)

const (
	// maxReserve is what is kept free for an answer, in tokens; of a small
	// window a quarter.
	maxReserve = 20_000
	// leastCut is the number of tokens below which no prompt is taken to have
	// been cut: the smallest windows in use are larger.
	leastCut = 1000
)

// A window is what a run knows of the size of its conversation, and of what the
// model can take. Figures are tokens.
type window struct {
	room int // what a prompt may have; 0 is no limit that is known

	// counted is the size by the server's count of the first messages of the
	// history; messages is how many. 0 is no count that holds.
	counted, messages int
	// scale is by how much the server counted more than was estimated. What has
	// been added since is likely to be of the same kind.
	scale float64

	// input is the server's count of the last prompt, to which the conversation
	// has only been added since; 0 is none.
	input int
	// words is the number of words in the first messages of the history, and in
	// the system prompt; worded is how many messages.
	words, worded int
	thought       int  // what the model has thought, which a server may leave out later
	cut           bool // the server seems to cut prompts, and that was told

	outputs map[string]string // the kept output of a call, by its id
	gone    []model.ToolCall  // the ids of calls that a summary stands for
	last    int               // the turn of the last summary
	close   int               // summaries in a row with hardly a turn between, after the first
}

// newWindow is that of a model that can take so many tokens; 0 is unknown.
func newWindow(size int) window {
	return window{room: size - min(size/4, maxReserve), scale: 1}
}

// keepOutput remembers where the whole output of a call is.
func (w *window) keepOutput(id, output string) {
	if output == "" {
		return
	}
	if w.outputs == nil {
		w.outputs = map[string]string{}
	}
	w.outputs[id] = path.Base(output)
}

// changed forgets what was counted: the history is another one now.
func (w *window) changed() { w.counted, w.messages, w.input, w.words, w.worded = 0, 0, 0, 0, 0 }

// scaled corrects an estimate by what the server counted before.
func (w *window) scaled(tokens int) int { return int(float64(tokens) * w.scale) }

// request is the next one.
func (r *run) request() model.Request {
	return model.Request{System: r.opts.System, Messages: r.history, Tools: r.offered}
}

// size is that of the next prompt: the server's count of the last prompt and
// its answer, and an estimate of what has been added since. Without a count all
// of it is estimated.
func (r *run) size() int {
	w := &r.window
	if w.counted > 0 {
		return w.counted + w.scaled(estimate(r.history[w.messages:]))
	}
	return w.scaled(model.EstimateUsage(r.request(), model.Response{}).Input)
}

// fixed is the part of each prompt that no compaction makes smaller: the system
// prompt and the tools.
func (r *run) fixed() int {
	return r.window.scaled(model.EstimateUsage(model.Request{System: r.opts.System, Tools: r.offered}, model.Response{}).Input)
}

// estimate guesses the tokens of messages.
func estimate(messages []model.Message) int {
	return model.EstimateUsage(model.Request{Messages: messages}, model.Response{}).Input
}

// weigh takes the server's count of the prompt that was just answered; the
// answer is not in the history yet.
func (r *run) weigh(resp model.Response) error {
	w, u := &r.window, resp.Usage
	before := w.words
	r.countWords()
	if u.Estimated || u.Input <= 0 {
		return nil // a count from before still holds for what it counted
	}
	var told error
	if fewest := r.fewestTokens(before); !w.cut && u.Input < fewest {
		w.cut = true
		told = r.record(trajectory.Notice{Kind: trajectory.NoticePromptCut, Text: cutPromptText(u.Input, fewest)})
	}
	w.input = u.Input
	w.thought += max(u.Reasoning, len(resp.Reasoning)/2) // by far the most that it can be
	if w.cut {
		w.counted, w.messages, w.scale = 0, 0, 1 // it counts something else
		return told
	}
	guess := model.EstimateUsage(r.request(), model.Response{}).Input
	w.scale = min(max(float64(u.Input)/float64(max(guess, 1)), 0.5), 4)
	w.counted, w.messages = u.Input+max(u.Output-u.Reasoning, 0), len(r.history)+1
	return told
}

// countWords counts the words of what has been added to the history.
func (r *run) countWords() {
	w := &r.window
	if w.worded == 0 {
		w.words = words(r.opts.System)
	}
	for _, m := range r.history[w.worded:] {
		w.words += words(m.Text)
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
