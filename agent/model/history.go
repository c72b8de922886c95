package model

import (
	"fmt"
	"strings"
)

// Interrupted is the answer that Repair gives to a call that has none.
const Interrupted = "interrupted: this call did not come to an end, and it is not known what it did"

// Repair returns the conversation in the form that every server accepts. A
// conversation can lose it when a run is killed between a call and its result.
//
//   - Each call has exactly one result, right after the message that asks for
//     it and in the order of the calls. A missing one is filled in, a second
//     one and one without a call are dropped.
//   - A message that says nothing and asks for nothing is dropped.
//   - Neighbouring user messages are joined, and so are neighbouring assistant
//     messages of which the first asks for nothing.
//
// The argument is not changed.
func Repair(messages []Message) []Message {
	var out []Message
	for i, m := range messages {
		switch m.Role {
		case Tool:
			// Taken up with the calls it answers, below.
		case User:
			if strings.TrimSpace(m.Text) != "" {
				out = join(out, m)
			}
		case Assistant:
			if strings.TrimSpace(m.Text) == "" && len(m.Calls) == 0 {
				continue
			}
			out = join(out, m)
			out = append(out, results(m.Calls, messages[i+1:])...)
		}
	}
	return out
}

// join adds a message, to the one before it if that is of the same role. An
// assistant message that asks for something is followed by results, so the one
// before is never such a one.
func join(out []Message, m Message) []Message {
	n := len(out)
	if n == 0 || out[n-1].Role != m.Role {
		return append(out, m)
	}
	if strings.TrimSpace(m.Text) != "" {
		m.Text = "\n\n" + m.Text
	}
	m.Text = out[n-1].Text + m.Text
	out[n-1] = m
	return out
}

// results picks the results of the calls from what follows them, up to the
// next assistant message.
func results(calls []ToolCall, following []Message) []Message {
	if len(calls) == 0 {
		return nil
	}
	found := map[string]Message{}
	for _, m := range following {
		if m.Role == Assistant {
			break
		}
		if _, dup := found[m.CallID]; m.Role == Tool && !dup {
			found[m.CallID] = m
		}
	}
	out := make([]Message, len(calls))
	for i, call := range calls {
		m, ok := found[call.ID]
		if !ok {
			m = Message{Role: Tool, CallID: call.ID, Parts: []Part{{Text: Interrupted}}, IsError: true}
		}
		out[i] = m
	}
	return out
}

// AssignIDs makes the ids of the calls unique among themselves and in the
// conversation before them: a call without an id is given one, and so is a
// call whose id is taken. The ids depend on nothing but the conversation.
func AssignIDs(conversation []Message, calls []ToolCall) {
	taken := map[string]bool{"": true}
	n := 0
	for _, m := range conversation {
		for _, call := range m.Calls {
			taken[call.ID] = true
			n++
		}
	}
	for i := range calls {
		for taken[calls[i].ID] {
			n++
			// Nine letters and digits: some servers refuse any other form.
			calls[i].ID = fmt.Sprintf("call%05d", n)
		}
		taken[calls[i].ID] = true
	}
}
