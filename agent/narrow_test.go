package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

// A narrow model takes so many tokens in a prompt and refuses more. It counts
// what it is sent. It looks for so many turns and then finishes.
type narrow struct {
	limit   int                              // 0 is none
	dense   int                              // how many times as many tokens as are estimated there are after the task; 0 is once
	prompt  int                              // the same of what is before
	names   func(limit, size int) (int, int) // the figures of a refusal
	looks   int
	beside  int // calls in each turn; 0 is one
	summary func() (model.Response, error)
	check   func(req model.Request)

	requests []model.Request
	sizes    []int
	turns    int
	summed   []string // what it was given to sum up
	refused  int
}

func (m *narrow) Name() string { return "narrow" }

func (m *narrow) Generate(_ context.Context, req model.Request, _ func(string)) (model.Response, error) {
	req.Messages = slices.Clone(req.Messages)
	size := m.count(req)
	m.requests, m.sizes = append(m.requests, req), append(m.sizes, size)
	if m.limit > 0 && size > m.limit {
		m.refused++
		err := model.Errorf(model.Context, "too long: %d", size)
		if m.names != nil {
			err.Limit, err.Size = m.names(m.limit, size)
		}
		return model.Response{}, err
	}
	if len(req.Tools) == 0 {
		m.summed = append(m.summed, req.Messages[0].Text)
		if m.summary != nil {
			return m.summary()
		}
		resp := says(fmt.Sprintf("summary %d", len(m.summed)))
		resp.Usage = model.Usage{Input: size, Output: 3}
		return resp, nil
	}
	if m.check != nil {
		m.check(req)
	}
	resp := says("done")
	if m.turns++; m.turns <= m.looks {
		resp = model.Response{Text: fmt.Sprintf("look %d", m.turns), Finish: model.FinishToolCalls}
		for i := range max(m.beside, 1) {
			resp.Calls = append(resp.Calls, call("look", fmt.Sprintf(`{"n":%d}`, 100*m.turns+i)))
		}
	}
	resp.Usage = model.Usage{Input: size, Output: model.EstimateUsage(req, resp).Output}
	model.AssignIDs(req.Messages, resp.Calls)
	return resp, nil
}

// count is what the server counts in a prompt.
func (m *narrow) count(req model.Request) int {
	after := model.EstimateUsage(model.Request{Messages: req.Messages[1:]}, model.Response{}).Input
	before := model.EstimateUsage(req, model.Response{}).Input - after
	return max(m.prompt, 1)*before + max(m.dense, 1)*after
}

// page is what a look gives: so many bytes in lines, with a beginning and an
// end of its own.
func page(args json.RawMessage, size int) string {
	line := strings.Repeat("what is there ", 5) + "\n"
	return fmt.Sprintf("begin %s\n%send %s", args, strings.Repeat(line, size/len(line)), args)
}

// look is a tool that gives pages.
func look(size int) tool {
	return tool{"look", tools.Read, func(_ context.Context, args json.RawMessage) (tools.Result, error) {
		return tools.Text(page(args, size)), nil
	}}
}

func notices(memory *trajectory.Memory, kind string) []string {
	var texts []string
	for _, body := range memory.Bodies() {
		if n, ok := body.(trajectory.Notice); ok && n.Kind == kind {
			texts = append(texts, n.Text)
		}
	}
	return texts
}
