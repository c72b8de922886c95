package agent

import (
	"path"

	"github.com/belljar/belljar/agent/model"
)

const (
	// maxReserve is what is kept free for an answer, in tokens; of a small
	// window a quarter, and never more than is left for the conversation.
	maxReserve = 20_000
	// bytesPerToken is as package model estimates.
	bytesPerToken = 4
	// leastScale and mostScale bound by how much a server may count otherwise
	// than is estimated. Text that no tokenizer was made for has a token a byte.
	leastScale, mostScale = 0.5, 4
	// firmly is how many estimated tokens of a conversation must have been
	// counted for their count to weigh as much as that of the prompt.
	firmly = 500
)

// A window is what a run knows of the size of its conversation, and of what the
// model can take. Figures are tokens.
type window struct {
	most  int  // what the model takes, prompt and answer together; 0 is unknown
	guess int  // what a prompt may have, where only refusals tell; 0 is none
	told  bool // the server said most of this run: nothing better is to be found
	took  int  // the largest prompt that was counted
	// mused is what the model thought before its last answer, and goesBack tells
	// that the server counts that with the next prompt.
	mused    int
	goesBack bool

	// counted is the size by the server's count of the first messages of the
	// history; messages is how many. 0 is no count that holds.
	counted, messages int
	// base is the server's count of the system prompt, the tools and the task,
	// which never change; 0 is none.
	base int
	// scale is by how much the server counted more of the messages after the
	// task than was estimated. What is added is likely to be of the same kind.
	scale float64

	// input is what a prompt has at least, by the server's count of an earlier
	// one to which the conversation has only been added since; 0 is none.
	input int
	// words is the number of words in the first messages of the history, and in
	// the system prompt; worded is how many messages.
	words, worded int
	thought       int  // what the model has thought, which a server may leave out later
	cut           bool // the server seems to cut prompts, and that was told

	outputs map[string]string  // the kept output of a call, by its id
	wholes  map[string][]whole // what a shortened result was, by the id of its call
	gone    []model.ToolCall   // the ids of calls that a summary stands for
	summed  summed             // what stands for the messages after the task
}

// newWindow is that of a model that can take so many tokens; 0 is unknown.
func newWindow(size int) window { return window{most: size, scale: 1} }

// findWindow takes what was found of the window beside the run, and returns what
// the server has said of it; 0 is nothing.
func (r *run) findWindow() int {
	w := &r.window
	if !w.told && r.opts.FindWindow != nil {
		if found := r.opts.FindWindow(); found > 0 {
			w.most, w.told = found, true
		}
	}
	if !w.told {
		return 0
	}
	return w.most
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
// its answer, and an estimate of what has been added since. Without a count of
// what comes after the task that is estimated.
func (r *run) size() int {
	w := &r.window
	if w.counted > 0 {
		return w.counted + w.guessed(r.history[w.messages:])
	}
	return r.base() + w.guessed(r.history[1:])
}

// base is the part of each prompt that no compaction makes smaller: the system
// prompt, the tools and the task.
func (r *run) base() int {
	if r.window.base > 0 {
		return r.window.base
	}
	return r.guessBase()
}

func (r *run) guessBase() int {
	return model.EstimateUsage(model.Request{System: r.opts.System, Tools: r.offered, Messages: r.history[:1]}, model.Response{}).Input
}

// reserve is what is kept free for an answer.
func (r *run) reserve() int {
	return max(min(r.window.most/4, maxReserve, (r.window.most-r.base())/2), 0)
}

// room is the size from which on a conversation is made shorter; 0 is none.
func (r *run) room() int {
	w := &r.window
	switch {
	case w.most == 0:
		return w.guess
	case w.guess == 0:
		return w.most - r.reserve()
	default:
		return min(w.guess, w.most-r.reserve())
	}
}

// limit is the size above which nothing is sent; 0 is none. What cannot be made
// shorter may take of the reserve: a short answer is better than none.
func (r *run) limit() int {
	if r.window.most == 0 {
		return 0
	}
	return r.window.most - r.reserve()/4
}

// estimate guesses the tokens of messages.
func estimate(messages []model.Message) int {
	return model.EstimateUsage(model.Request{Messages: messages}, model.Response{}).Input
}

// guessed guesses the tokens of messages by what the server counted before.
func (w *window) guessed(messages []model.Message) int {
	return w.scaled(estimate(messages) + w.thoughts(messages))
}

// thoughts guesses the tokens of what was thought before messages, where that
// goes back to the server.
func (w *window) thoughts(messages []model.Message) int {
	size := 0
	for _, m := range messages {
		size += len(m.Reasoning)
	}
	if !w.goesBack {
		return 0
	}
	return size / bytesPerToken
}

// weigh takes the server's count of the prompt that was just answered; the
// answer is not in the history yet.
func (r *run) weigh(resp model.Response) error {
	w, u := &r.window, resp.Usage
	told := r.checkCut(resp)
	switch {
	case w.cut:
		w.counted, w.messages, w.base, w.scale = 0, 0, 0, 1 // it counts something else
		return told
	case u.Estimated || u.Input <= 0:
		return told // a count from before still holds for what it counted
	case len(r.history) == 1:
		w.base = u.Input
	}
	r.learnThought(u.Input)
	r.recount(u.Input)
	w.took = max(w.took, u.Input)
	said := r.answerSize(resp)
	w.mused = max(u.Output-said, 0)
	if w.goesBack {
		said += w.mused
	}
	w.counted, w.messages = u.Input+said, len(r.history)+1
	return told
}

// recount takes a count of the history as it is. Where little was counted beside
// the task, its own count tells more of how the server counts.
func (r *run) recount(counted int) {
	w := &r.window
	guess, base := r.guessBase(), r.base()
	usual := min(max(float64(base)/float64(max(guess, 1)), leastScale), mostScale)
	scale := (float64(counted-base) + usual*firmly) / float64(estimate(r.history[1:])+w.thoughts(r.history[1:])+firmly)
	w.scale = min(max(scale, leastScale), mostScale)
	w.counted, w.messages = counted, len(r.history)
}

// learnThought finds out by a count whether what was thought before the last
// answer is in it: profiles differ, and servers change it. That tells nothing
// where as much came besides, for that is estimated.
func (r *run) learnThought(counted int) {
	w := &r.window
	if w.counted == 0 || w.mused <= max(w.guessed(r.history[w.messages:]), firmly) {
		return
	}
	without := r.size()
	if w.goesBack {
		without -= w.mused
	}
	w.goesBack = counted > without+w.mused/2
}

// answerSize is what an answer has without its thought. Where the server does
// not tell the part of that, it is estimated.
func (r *run) answerSize(resp model.Response) int {
	u := resp.Usage
	if u.Reasoning == 0 && resp.Reasoning != "" {
		left := estimate([]model.Message{{Text: resp.Text, Calls: resp.Calls}})
		return min(r.window.scaled(left), max(u.Output, 0))
	}
	return max(u.Output-u.Reasoning, 0)
}
