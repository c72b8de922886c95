// Package model holds the conversation between an agent and a language model,
// without naming any provider: messages, tool calls, and the [Model] that
// turns a conversation into the next answer.
package model

import (
	"context"
	"encoding/json"
	"fmt"
)

// A Model gives the next answer of a conversation. Implementations are safe
// for concurrent use.
type Model interface {
	// Generate asks for one answer and returns the whole of it. Pieces of the
	// answer's text are handed to onText as they come; onText may be nil and
	// is not called after Generate has returned. A stream that was cut,
	// refused or filtered is an error (see [Error]), never a short answer. The
	// ids of the answer's calls are unique in the conversation.
	Generate(ctx context.Context, req Request, onText func(string)) (Response, error)
	// Name is the model's name for the record.
	Name() string
}

// A Request is a conversation and the tools on offer.
type Request struct {
	System   string
	Messages []Message
	Tools    []ToolDefinition
	// MaxTokens bounds the answer; 0 leaves it to the server, as package agent
	// does.
	MaxTokens int
	// Resend is asked before the request is sent a second time and each further
	// one, as after a refusal of how it was written. An error from it ends
	// Generate and is returned. It is called by the goroutine that called
	// Generate; nil is always allowed.
	Resend func(Resend) error
}

// A Resend is a request that failed and is sent again at once, written
// otherwise.
type Resend struct {
	// Err is why it failed.
	Err error
	// Change says in words what is written otherwise from now on.
	Change string
}

// String says in one line why the request is written otherwise, and how.
func (r Resend) String() string { return fmt.Sprintf("%v; from now on %s", r.Err, r.Change) }

// A ToolDefinition offers one tool. Schema is a JSON Schema object.
type ToolDefinition struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// A Role says whose message it is.
type Role string

// The roles of a conversation. The system prompt is not a message.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// A Message is one entry of a conversation.
type Message struct {
	Role Role
	Text string
	// Reasoning is what the model thought before an assistant message. It is
	// handed back only to servers that ask for it.
	Reasoning string
	// Calls are the tool calls an assistant message asks for.
	Calls []ToolCall
	// CallID says which call a tool message answers; Parts is the answer.
	CallID  string
	Parts   []Part
	IsError bool
}

// A Part is a piece of a tool's answer: a text, or an image when MediaType is
// set.
type Part struct {
	Text      string
	MediaType string
	Data      []byte
}

// A ToolCall asks for one tool. Arguments are kept as the model sent them and
// may be malformed.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
	// Extra is a JSON object of further fields that the server sent with the
	// call, or with the message that it is the first call of, and wants back; or
	// "". Origin is that server: to another one the fields mean nothing, and
	// strict ones refuse them.
	Extra, Origin string
}

// A Response is one whole answer.
type Response struct {
	Text  string
	Calls []ToolCall
	// Reasoning is what the model thought, where a server tells it.
	Reasoning string
	Finish    Finish
	Usage     Usage
}

// Finish says why the model stopped.
type Finish string

// The reasons to stop. Anything else a server says is an [Error].
const (
	// FinishStop: the answer is complete.
	FinishStop Finish = "stop"
	// FinishToolCalls: the answer asks for tools.
	FinishToolCalls Finish = "tool_calls"
	// FinishLength: the output limit cut the answer; its calls must not run.
	FinishLength Finish = "length"
)

// Usage counts tokens. Estimated is set where the server told none.
type Usage struct {
	Input  int `json:"input"`
	Output int `json:"output"`
	// Cached is the part of Input that the server had kept from before, and
	// Reasoning the part of Output that the model thought.
	Cached    int  `json:"cached"`
	Reasoning int  `json:"reasoning"`
	Estimated bool `json:"estimated"`
}

// Add returns the sum of two usages; a sum with an estimate is an estimate.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output, Cached: u.Cached + v.Cached,
		Reasoning: u.Reasoning + v.Reasoning, Estimated: u.Estimated || v.Estimated,
	}
}
