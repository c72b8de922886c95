// Package script is a model that gives a fixed list of answers, read from a
// YAML file. It is for demos, tests and continuous integration: it needs no
// server and does the same every time.
//
//	turns:
//	  - text: I'll look around first.
//	    tool_calls:
//	      - {name: bash, arguments: {command: ls}}
//	  - text: There is nothing here.
package script

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/belljar/belljar/agent/model"
)

// maxSize bounds a script file in bytes.
const maxSize = 16 << 20

// A Model gives its answers in turn, one for each request, whatever the
// request says. Safe for concurrent use.
type Model struct {
	name  string
	turns []model.Response

	mu   sync.Mutex
	next int
}

var _ model.Model = (*Model)(nil)

// Load reads the script in the file at path.
func Load(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the script: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("reading the script: %w", err)
	}
	if len(data) > maxSize {
		return nil, fmt.Errorf("the script %s is larger than %d bytes", path, maxSize)
	}
	return New(path, data)
}

// New reads a script from data. The name stands for it in errors and in the
// model's name.
func New(name string, data []byte) (*Model, error) {
	turns, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("script %s:%w", name, err)
	}
	return &Model{name: name, turns: turns}, nil
}

// Name is "script:" and the script's name.
func (m *Model) Name() string { return "script:" + m.name }

// Generate gives the next answer, its text in pieces of one word. Asking for
// more answers than there are is an error.
func (m *Model) Generate(ctx context.Context, req model.Request, onText func(string)) (model.Response, error) {
	if ctx.Err() != nil {
		return model.Response{}, fmt.Errorf("asking %s: %w", m.Name(), context.Cause(ctx))
	}
	m.mu.Lock()
	n := m.next
	if n < len(m.turns) {
		m.next++
	}
	m.mu.Unlock()
	if n == len(m.turns) {
		turns := "turns"
		if n == 1 {
			turns = "turn"
		}
		return model.Response{}, model.Errorf(model.Permanent,
			"the script %s has %d %s and is asked for one more; end it with a turn without tool_calls", m.name, n, turns)
	}
	resp := m.turns[n]
	resp.Calls = append([]model.ToolCall(nil), resp.Calls...)
	resp.Usage = model.EstimateUsage(req, resp)
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
