package openai_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
)

// A past is a conversation that is made anew from the record of a run, as the
// model last saw it. Nothing that is shipped goes on from a record yet; what
// will has to come to the same.
//
// Not made anew is a conversation with results that were shortened: the record
// says which and by how much, and that is an error. Further fields of a call that were too long to record are
// missing, and where secrets are hidden in the record they are hidden here.
type past struct {
	messages []model.Message
	asking   int // the message that the next calls belong to
}

// fromRecord makes a conversation of the events of a run. It is as it was left:
// calls may be without a result.
func fromRecord(events iter.Seq2[trajectory.Event, error]) ([]model.Message, error) {
	p := past{asking: -1}
	for event, err := range events {
		if err == nil {
			err = p.add(event.Body)
		}
		if err != nil {
			return nil, fmt.Errorf("making the conversation of a record anew: %w", err)
		}
	}
	return p.messages, nil
}

// add takes the next event. Those that say nothing to the model are passed over.
func (p *past) add(body trajectory.Body) error {
	switch b := body.(type) {
	case trajectory.Message:
		if b.Role == string(model.Assistant) {
			p.asking = len(p.messages)
		}
		p.messages = append(p.messages, model.Message{Role: model.Role(b.Role), Text: b.Text, Reasoning: b.Reasoning})
	case trajectory.ToolCall:
		if p.asking < 0 {
			return fmt.Errorf("the call %s stands before the first answer", b.CallID)
		}
		asking := &p.messages[p.asking]
		asking.Calls = append(asking.Calls, model.ToolCall{
			ID: b.CallID, Name: b.Name, Arguments: b.Arguments, Extra: b.Extra, Origin: b.Origin,
		})
	case trajectory.ToolResult:
		p.messages = append(p.messages, model.Message{Role: model.Tool, CallID: b.CallID, Parts: partsOf(b.Content), IsError: b.IsError})
	case trajectory.Notice:
		return p.tell(b)
	}
	return nil
}

// tell adds what the model was told by a notice.
func (p *past) tell(n trajectory.Notice) error {
	switch n.Kind {
	case trajectory.NoticeEmpty, trajectory.NoticeCut, trajectory.NoticeRepeat, trajectory.NoticeWritten,
		trajectory.NoticeBadCall:
		p.messages = append(p.messages, model.Message{Role: model.User, Text: n.Text})
	case trajectory.NoticeSummary:
		if n.Messages < 1 || n.Messages >= len(p.messages) {
			return fmt.Errorf("a summary stands for %d of the %d messages after the task", n.Messages, len(p.messages)-1)
		}
		p.messages = slices.Replace(p.messages, 1, 1+n.Messages, model.Message{Role: model.User, Text: n.Text})
		p.asking -= n.Messages - 1
	case trajectory.NoticeCompacted:
		if len(n.Shortened) > 0 {
			return errors.New("results of it were shortened, and the record does not have what was left of them")
		}
	}
	return nil
}

// partsOf is the content of a result as the model has it.
func partsOf(content []trajectory.Part) []model.Part {
	var parts []model.Part
	for _, p := range content {
		parts = append(parts, model.Part{Text: p.Text, MediaType: p.MediaType, Data: p.Data})
	}
	return parts
}
