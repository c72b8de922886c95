package model

import (
	"errors"
	"fmt"
	"time"
)

// A Kind says what went wrong with a request, which decides whether it is
// worth another try and what the user can do.
type Kind string

// The kinds of failure.
const (
	// Transient: the server or the way to it failed for the moment.
	Transient Kind = "transient"
	// RateLimited: the server asks for fewer requests; Error.RetryAfter says
	// when it wants the next one.
	RateLimited Kind = "rate_limited"
	// Cut: the answer ended before its end, or was garbled.
	Cut Kind = "cut"
	// Stalled: nothing came for too long.
	Stalled Kind = "stalled"
	// NoHost: there is no server of that name. It is worth another try where
	// the server was reached before: then it is the network that is gone.
	NoHost Kind = "no_host"
	// Auth: the server refused the key.
	Auth Kind = "auth"
	// BadRequest: the server refused the request.
	BadRequest Kind = "bad_request"
	// Context: the conversation is longer than the model can read.
	Context Kind = "context"
	// BadCall: the server could not read the model's call of a tool, or found
	// that it does not fit the tool; Error.Call says what it told. The same
	// request may well end the same way, but a model that is told can do better.
	BadCall Kind = "bad_call"
	// Filtered: the answer was refused or filtered.
	Filtered Kind = "filtered"
	// Permanent: anything else that another try would not change.
	Permanent Kind = "permanent"
)

// Retryable tells the kinds that another try may get past.
func (k Kind) Retryable() bool {
	switch k {
	case Transient, RateLimited, Cut, Stalled:
		return true
	default:
		return false
	}
}

// ErrNoTime is wrapped when another try would come after the context's
// deadline.
var ErrNoTime = errors.New("no time is left for another try")

// An Error is a request that gave no whole answer. It holds no key.
type Error struct {
	Kind Kind
	// StatusCode is the HTTP status, or 0 where there was none.
	StatusCode int
	// RetryAfter is how long the server wants to be left alone; 0 where it
	// did not say.
	RetryAfter time.Duration
	// Limit and Size are, for Context, what the prompt may have and what it has
	// by the server's words, in tokens; 0 is not said.
	Limit, Size int
	// Usage is what an answer had used up that ended before its end, estimated
	// where the server did not count; zero where none had begun.
	Usage Usage
	// Call is, for BadCall, what the server told of the call.
	Call RefusedCall
	// Said are the server's own words, in one line; "" is none.
	Said string
	// Message says in one line what happened and what can be done about it.
	Message string
	// Err is the cause, where there is one.
	Err error
}

// A RefusedCall is a call of a tool that a server did not take from the model.
type RefusedCall struct {
	// Problem is what is wrong with it in the server's words, in one line.
	Problem string
	// Written is what the model wrote, as far as the server tells; "" is not
	// told. Nothing bounds it but the size of an answer.
	Written string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error of the kind with a formatted message; %w works.
func Errorf(kind Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: err.Error(), Err: errors.Unwrap(err)}
}

// KindOf returns the kind of the Error in err's chain, or "".
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}
