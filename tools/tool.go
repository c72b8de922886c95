// Package tools holds the capabilities that are offered to a model: each is a
// [Tool], and a [Registry] is the set of them.
//
// What the model can put right goes back to it as a [Result] with IsError set.
// What only the operator can put right, such as a lost sandbox, is a Go error
// from [Tool.Execute].
package tools

import (
	"context"
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
)

// A Tool is one capability. Implementations are safe for concurrent use.
type Tool interface {
	// Definition describes the tool to a model. It does not change.
	Definition() Definition
	// Execute runs one call. The arguments have the shape of the
	// definition's schema when they come through a Registry. An error means
	// that the run cannot go on.
	Execute(ctx context.Context, args json.RawMessage) (Result, error)
}

// A Definition is what a model is told about a tool.
type Definition struct {
	Name        string
	Description string
	Schema      *jsonschema.Schema
	Effect      Effect
	// Once tells that each call gives what no call has given before, so that the
	// same call does not give it again.
	Once bool
	// Standing tells that what the newest call that worked says stands until the
	// next one: its arguments are kept word for word when the conversation is
	// summed up. They have to be short.
	Standing bool
}

// An Effect is what a call may do, which decides what may run beside it.
type Effect int

const (
	// Read calls change nothing and may run side by side.
	Read Effect = iota
	// Write calls change files of the workspace.
	Write
	// Execute calls run programs.
	Execute
)

// A Result is the answer to one call.
type Result struct {
	Parts   []Part
	IsError bool
	// Status and ExitCode say how a command ended, for tools that run one.
	Status   string
	ExitCode *int
	// Lasting is the text of Parts without what is another one each time though
	// nothing has changed, such as the ids of processes: two results are the same
	// if theirs is. It is "" where all of the text lasts.
	Lasting string
	// Files are the files of the workspace that the call read or changed, as it
	// left them, as far as the tool knows.
	Files []FileSum
}

// A FileSum is one content of a file.
type FileSum struct {
	// Path is relative to the workspace, or absolute inside the sandbox where the
	// file is in another folder. Links are resolved.
	Path string
	// SHA256 is the hash of the content in hexadecimal; "" is a file that is
	// gone.
	SHA256 string
}

// StatusRunning is the status of a result about a command that goes on.
const StatusRunning = "running"

// A Part is a piece of a result: a text, or an image when MediaType is set.
type Part struct {
	Text string
	// MediaType is an image's type, such as "image/png", and Data its bytes.
	MediaType string
	Data      []byte
}

// Text is a result of one text.
func Text(text string) Result { return Result{Parts: []Part{{Text: text}}} }

// Error is a result of one text that tells the model what to put right.
func Error(text string) Result { return Result{Parts: []Part{{Text: text}}, IsError: true} }
