// Package provider holds what is known of servers that speak the chat
// completions protocol: what each takes, wants and refuses, as data. A
// [Profile] is chosen by name or by the server's address; a server that is not
// known gets [Generic], which sends the least that anybody refuses.
//
// What a profile says is where a client starts. Servers change, and a refusal
// that names a field is believed over the profile.
package provider

import "time"

// A Profile is what is known of one provider.
type Profile struct {
	// Name is what the user calls it by.
	Name string
	// BaseURL is the server's address, as for a client; "" where each user has
	// another one.
	BaseURL string
	// Hosts are the hosts that the provider answers at. One that begins with a
	// dot or a dash stands for all names that end in it, and one that begins
	// with a colon for a port on a host that is the user's own.
	Hosts []string
	// KeyHeader is the header that carries the key; "" is a bearer token in
	// Authorization.
	KeyHeader string
	// Windows are what its models can take; see Profile.Window.
	Windows []Window
	// Sources are where it says what a model takes; the first that tells counts.
	Sources []WindowSource
	// NoReason tells that an answer may end with the end marker alone. Of other
	// providers such an answer is taken for cut.
	NoReason bool
	// Idle is how long the server may be silent in the middle of an answer; 0 is
	// the client's default. Some hold a call back until it is whole.
	Idle time.Duration
	Rules
}

// Rules say how a request is written. They are comparable.
type Rules struct {
	// Content is what stands for the text of an assistant message that only
	// asks for tools.
	Content Content
	// Reasoning is the field that a model's reasoning goes back in, on messages
	// that ask for tools: the other ones never need it. "" sends none back.
	Reasoning string
	// ReasoningAlways sends the field on each such message, if empty.
	ReasoningAlways bool
	// IDs is the form that ids of calls must have.
	IDs IDs
	// System is where the system prompt goes. It is always one, and first.
	System System
	// Bridge puts a message of the assistant between a tool's result and a
	// message of the user.
	Bridge bool
	// Usage asks for token counts by stream_options. Without it a server may
	// still send them.
	Usage bool
	// MaxTokens is the name of the parameter that bounds an answer.
	MaxTokens string
	// Calls is how several calls in one answer are asked for and written back.
	Calls Calls
	// Images tells that images may be sent, in messages of the user. Otherwise
	// the model is told that there was one.
	Images bool
	// Extra sends further fields of a call back to the server that sent them.
	Extra bool
}

// Content is what stands for a text that is not there.
type Content string

// The kinds of content. No third one leaves the field away: more servers
// refuse that than either of these.
const (
	ContentNull  Content = "null"
	ContentEmpty Content = "empty"
)

// IDs is a form of the ids of calls. Ids of another form are mapped, each to
// the same one every time.
type IDs string

// The forms of ids.
const (
	// IDsAny: ids go back as they came.
	IDsAny IDs = "any"
	// IDsShort: at most 40 letters, digits, "_" and "-".
	IDsShort IDs = "short"
	// IDsNine: nine letters and digits.
	IDsNine IDs = "nine"
)

// System is where the system prompt goes.
type System string

// The places of the system prompt.
const (
	// SystemMessage: a message of its own, of the role "system".
	SystemMessage System = "message"
	// SystemUser: before the first message of the user, for models whose
	// template knows no system prompt.
	SystemUser System = "user"
)

// Calls is how several calls in one answer are dealt with.
type Calls string

// The ways with several calls.
const (
	// CallsDefault: nothing is said about it.
	CallsDefault Calls = "default"
	// CallsAsked: parallel_tool_calls is set, where it is off otherwise.
	CallsAsked Calls = "asked"
	// CallsSingle: each call goes back as a message of its own, followed by its
	// result, for models whose template takes one call at a time.
	CallsSingle Calls = "single"
)

// The names of the parameter that bounds an answer.
const (
	maxTokens           = "max_tokens"
	maxCompletionTokens = "max_completion_tokens"
)

// OtherMaxTokens is the other name of the parameter that bounds an answer.
func OtherMaxTokens(name string) string {
	if name == maxCompletionTokens {
		return maxTokens
	}
	return maxCompletionTokens
}
