package replay

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
)

// A Model gives the answers of a recorded run in order, one for each request,
// whatever the request says; to each sub-agent those that it had. It costs nothing and asks nobody. Safe for
// concurrent use.
type Model struct {
	id string

	mu      sync.Mutex
	own     *conversation   // of the run's own agent
	subs    []*conversation // of its sub-agents, in the order in which they began
	sub     *conversation   // the one that was begun last; nil is none
	asked   int             // requests that were answered
	tools   bool            // tools were on offer before
	mask    func(string) string
	differs func(string) error // nil is told already, or not to be told
}

var _ model.Model = (*Model)(nil)

// NewModel reads the answers from the record of the session id. A record
// without a whole answer is an error.
func NewModel(id string, reader *trajectory.Reader) (*Model, error) {
	all, err := readAnswers(reader)
	if err != nil {
		return nil, fmt.Errorf("reading the answers of the session %s: %w", id, err)
	}
	if len(all[0].answers) == 0 {
		return nil, fmt.Errorf("the session %s has no whole answer of a model on record; choose another one", id)
	}
	return &Model{id: id, own: all[0], subs: all[1:]}, nil
}

// Watch has differs called, once, at the first request that says something else
// than the one which the recorded answer was to: the task, a result or a word
// of belljar. mask hides secrets in a request, as they are hidden in the record.
// An error of differs is that of the request. It must be called before the first
// request.
func (m *Model) Watch(mask func(string) string, differs func(text string) error) {
	m.mask, m.differs = mask, differs
}

// Name is "replay:" and the session's id.
func (m *Model) Name() string { return "replay:" + m.id }

// Generate gives the next answer, its text in pieces of one word. Asking for
// more answers than there are is an error, and so is asking for a summary of the
// conversation, which is not on record as the model gave it.
func (m *Model) Generate(ctx context.Context, req model.Request, onText func(string)) (model.Response, error) {
	if ctx.Err() != nil {
		return model.Response{}, fmt.Errorf("asking %s: %w", m.Name(), context.Cause(ctx))
	}
	given, err := m.take(req)
	if err != nil {
		return model.Response{}, err
	}
	resp := given.response
	resp.Calls = append([]model.ToolCall(nil), resp.Calls...)
	model.AssignIDs(req.Messages, resp.Calls)
	if onText != nil {
		for piece := range strings.SplitAfterSeq(resp.Text, " ") {
			if piece != "" {
				onText(piece)
			}
		}
	}
	return resp, nil
}

// take takes the next answer, and tells where the request is another one.
func (m *Model) take(req model.Request) (answer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tools && len(req.Tools) == 0 {
		return answer{}, model.Errorf(model.Permanent, "recorded answers hold no summary of the conversation")
	}
	m.tools = m.tools || len(req.Tools) > 0
	c := m.of(req.Messages)
	if c == nil {
		return answer{}, model.Errorf(model.Permanent, "the record %s has no answers to this sub-agent, which the recorded run did not start here", m.id)
	}
	if c.next == len(c.answers) {
		return answer{}, m.over(c)
	}
	given := c.answers[c.next]
	c.next++
	m.asked++
	if m.differs == nil {
		return given, nil
	}
	text := given.other(req.Messages, m.mask)
	if text == "" {
		return given, nil
	}
	tell := m.differs
	m.differs = nil
	return given, tell(fmt.Sprintf("request %d is not the recorded one, and is given the recorded answer all the same, as are those after it: %s", m.asked, text))
}

// of is the conversation that a request is part of; nil is that of a sub-agent
// which the recorded run did not have there. One message alone begins a
// conversation, and the first message tells it from the others.
func (m *Model) of(messages []model.Message) *conversation {
	first := ""
	if len(messages) > 0 {
		first = messages[0].Text
	}
	if !m.own.begun {
		m.own.begun, m.own.first = true, first
		return m.own
	}
	if len(messages) == 1 {
		if m.sub = m.begin(first); m.sub != nil || first != m.own.first {
			return m.sub
		}
	}
	if m.sub != nil && first == m.sub.first && (first != m.own.first || m.sub.next < len(m.sub.answers)) {
		return m.sub
	}
	return m.own
}

// begin takes the next sub-agent that the run's agent had at this point, rather
// one with that task: those before it may not be started this time.
func (m *Model) begin(task string) *conversation {
	var found *conversation
	for _, c := range m.subs {
		if c.begun || c.after != m.own.next {
			continue
		}
		same := m.mask != nil && len(c.answers) > 0 && len(c.answers[0].since) > 0 && c.answers[0].since[0].text == m.mask(task)
		if found == nil || same {
			found = c
		}
		if same {
			break
		}
	}
	if found != nil {
		found.begun, found.first = true, task
	}
	return found
}

// over says that there is nothing left to serve, and what can be done.
func (m *Model) over(c *conversation) error {
	count := fmt.Sprintf("%d answers", len(c.answers))
	if len(c.answers) == 1 {
		count = "1 answer"
	}
	why := "the recorded run stopped here"
	switch {
	case m.differs == nil && m.mask != nil:
		why = "this run went another way than the recorded one"
	case c.cut:
		why = "the record was cut off in the next one, as that run was killed or goes on"
	}
	return model.Errorf(model.Permanent,
		"the record %s has %s and is asked for one more: %s; to go on from here, give the task to a model that answers (--model NAME)", m.id, count, why)
}
