package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

// An answer is one recorded answer, and what had come since the one before.
type answer struct {
	response model.Response
	since    []message
	counted  bool // its usage was read
	notRun   bool // none of its calls was run
}

// A message is what a request holds beside the model's own answers.
type message struct {
	role model.Role
	id   string // of the call that is answered
	text string
	// free is not compared: what the model saw of it is not on record as such, or
	// is another one each time.
	free bool
	bash bool // a result of bash, at whose end news of jobs can stand
}

// A conversation is what one agent was answered: the run's own, or a sub-agent.
type conversation struct {
	answers []answer
	since   []message // what came since the last one
	ended   bool      // its end is on record
	cut     bool      // the last answer was not whole on record, and is left out

	// after is how many answers the run's own agent had before it began.
	after int

	// next is the answer that is served next, and first what the request began
	// with that it was begun by; begun tells whether there was one.
	next  int
	first string
	begun bool
}

// readAnswers reads the answers of a record by the agents that they were to, in
// the order in which those began; the first is the run's own. An answer is on
// record before all of its calls are, so that the last one is whole only where
// the end of its agent is on record.
func readAnswers(reader *trajectory.Reader) ([]*conversation, error) {
	own := &conversation{}
	all := []*conversation{own}
	agents := map[string]*conversation{"": own}
	for event, err := range reader.All() {
		if err != nil {
			return nil, err
		}
		body, parent := trajectory.Unnest(event.Body)
		c := agents[parent]
		if c == nil {
			c = &conversation{after: len(own.answers)}
			agents[parent] = c
			all = append(all, c)
		}
		c.take(body)
	}
	for _, c := range all {
		if n := len(c.answers); n > 0 && !c.ended {
			c.answers, c.cut = c.answers[:n-1], true
		}
	}
	return all, nil
}

func (c *conversation) take(body trajectory.Body) {
	switch body := body.(type) {
	case trajectory.Message:
		if body.Role != string(model.Assistant) {
			c.tell(message{role: model.User, text: body.Text})
			return
		}
		c.goesOn()
		c.answers = append(c.answers, answer{
			response: model.Response{Text: body.Text, Reasoning: body.Reasoning, Finish: model.FinishStop},
			since:    c.since, notRun: true,
		})
		c.since = nil
	case trajectory.Usage:
		if last := c.last(); last != nil && !last.counted {
			last.counted = true
			last.response.Usage = model.Usage{
				Input: body.Input, Output: body.Output, Cached: body.Cached, Reasoning: body.Reasoning, Estimated: body.Estimated,
			}
		}
	case trajectory.ToolCall:
		if last := c.last(); last != nil {
			last.counted = true // a count after it is another request's
			last.response.Finish = model.FinishToolCalls
			last.response.Calls = append(last.response.Calls, model.ToolCall{
				ID: body.CallID, Name: body.Name, Arguments: body.Arguments, Extra: body.Extra, Origin: body.Origin,
			})
		}
	case trajectory.ToolResult:
		if last := c.last(); last != nil && body.Status != "not_run" {
			last.notRun = false
		}
		c.tell(message{role: model.Tool, id: body.CallID, text: textOf(body), free: passing(body), bash: body.Name == bashTool})
	case trajectory.Notice:
		c.notice(body)
	case trajectory.End:
		c.ended = true
	}
}

// passing tells whether a result holds what is another one each time, such as
// ids of processes and how far a job has come.
func passing(r trajectory.ToolResult) bool {
	return r.Lasting != "" || r.Status == statusRunning || r.Name == outputTool || r.Name == killTool
}

// notice takes a notice that the model was told of, or that says what it saw.
func (c *conversation) notice(body trajectory.Notice) {
	switch body.Kind {
	case trajectory.NoticeCut:
		if last := c.last(); last != nil {
			last.response.Finish = model.FinishLength
		}
		fallthrough
	case trajectory.NoticeEmpty, trajectory.NoticeRepeat, trajectory.NoticeWritten, trajectory.NoticeBadCall:
		c.tell(message{role: model.User, text: body.Text})
	case trajectory.NoticeStuck:
		c.goesOn()
	case trajectory.NoticeCompacted:
		for _, part := range body.Shortened {
			c.free(part.Calls)
		}
	}
}

// tell notes what the model is told before its next answer.
func (c *conversation) tell(m message) { c.since = append(c.since, m) }

// free leaves the results of calls out of what is compared.
func (c *conversation) free(calls []string) {
	for i := range c.since {
		if m := &c.since[i]; m.role == model.Tool && slices.Contains(calls, m.id) {
			m.free = true
		}
	}
}

// last is the answer that is being read, or nil.
func (c *conversation) last() *answer {
	if len(c.answers) == 0 {
		return nil
	}
	return &c.answers[len(c.answers)-1]
}

// goesOn settles how the last answer ended, now that the run went on after it:
// calls that were not run all the same were cut.
func (c *conversation) goesOn() {
	if last := c.last(); last != nil && last.notRun && len(last.response.Calls) > 0 {
		last.response.Finish = model.FinishLength
	}
}

// other says what of a request is not what the answer was to, "" where all is.
// Only what came since the answer before is looked at: the rest was looked at
// with the requests before, and may have been made shorter.
func (a *answer) other(messages []model.Message, mask func(string) string) string {
	now := latest(messages)
	if len(now) > 0 && len(a.since) > 0 && a.since[0].role == model.Tool && now[0].role != model.Tool {
		return "" // all that the results belong to was summed up
	}
	for i, then := range a.since {
		if i >= len(now) {
			return "it lacks what the recorded one was told: " + quote(then.text)
		}
		got := now[i]
		got.text = mask(got.text)
		if then.free || then.text == got.text || then.bash && sameButNews(then.text, got.text) {
			continue
		}
		line, was, is := firstDifference(then.text, got.text)
		what := "the task"
		switch {
		case then.role == model.Tool:
			what = "the result of the call " + then.id
		case got.role == model.Tool, len(messages) > 1:
			what = "what the model is told"
		}
		return fmt.Sprintf("%s differs in line %d: %s was recorded, and now it is %s", what, line, quote(was), quote(is))
	}
	if len(now) > len(a.since) && len(a.since) > 0 {
		return "it tells the model more: " + quote(now[len(a.since)].text)
	}
	return ""
}

// sameButNews tells whether two results of bash are the same but for news of
// background jobs.
func sameButNews(a, b string) bool {
	a, inA := tools.WithoutNews(a)
	b, inB := tools.WithoutNews(b)
	return (inA || inB) && a == b
}

// latest are the messages after the last answer.
func latest(messages []model.Message) []message {
	var found []message
	for i := len(messages) - 1; i >= 0 && messages[i].Role != model.Assistant; i-- {
		m := message{role: messages[i].Role, id: messages[i].CallID, text: messages[i].Text}
		if m.role == model.Tool {
			var texts []string
			for _, p := range messages[i].Parts {
				if p.MediaType == "" {
					texts = append(texts, p.Text)
				}
			}
			m.text = strings.Join(texts, "\n")
		}
		found = append([]message{m}, found...)
	}
	return found
}

// firstDifference finds the first line in which two texts differ, from 1.
func firstDifference(a, b string) (line int, inA, inB string) {
	for line = 1; ; line++ {
		x, restA, _ := strings.Cut(a, "\n")
		y, restB, _ := strings.Cut(b, "\n")
		if x != y || restA == restB {
			return line, x, y
		}
		a, b = restA, restB
	}
}

// quote shows the beginning of a text in one line.
func quote(text string) string {
	const shown = 80
	line, _, more := strings.Cut(text, "\n")
	if runes := []rune(line); len(runes) > shown {
		line, more = string(runes[:shown]), true
	}
	if more {
		line += "…"
	}
	return fmt.Sprintf("%q", line)
}
