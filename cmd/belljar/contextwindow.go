package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/provider"
	"github.com/belljar/belljar/tools"
)

// windowPatience is how long the model's server has to say what the model takes,
// counted from the start of the sandbox: that takes about a second, so hardly
// anything is left to wait for.
const windowPatience = 2 * time.Second

// A knownWindow is how many tokens a model takes, and where that is from. 0 is
// unknown.
type knownWindow struct {
	tokens int
	from   string
}

// window is what the flag says, or what is known of the model.
func (f *modelFlags) window(p provider.Profile, name string) knownWindow {
	if f.contextWindow > 0 {
		return knownWindow{int(f.contextWindow), "flag"}
	}
	if tokens := p.Window(name); tokens > 0 {
		return knownWindow{tokens, "built-in"}
	}
	return knownWindow{}
}

// A windowQuestion is a question to a model's server that goes on beside other
// work. A nil one is none.
type windowQuestion struct {
	stop   context.CancelFunc
	ended  chan struct{} // closed when the answer is there, or there will be none
	tokens int           // 0 is unknown
}

// askWindow asks the model's server what the model takes, unless that is known.
// Where the server does not say it, nothing is lost but the answer.
func (m *chosenModel) askWindow(ctx context.Context) *windowQuestion {
	if m.ask == nil || m.window.tokens > 0 {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, windowPatience)
	q := &windowQuestion{stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(q.ended)
		q.tokens, _ = m.ask(ctx)
	}()
	return q
}

// answer waits for the answer.
func (q *windowQuestion) answer() int {
	if q == nil {
		return 0
	}
	<-q.ended
	return q.tokens
}

// Close ends the question.
func (q *windowQuestion) Close() error {
	if q != nil {
		q.stop()
		<-q.ended
	}
	return nil
}

// settleWindow takes what the model's server says of its window, and puts it
// into the manifest. One that not even the prompt and the tools fit into is told
// and not used: it may be what another client loaded the model with, and whether
// to go on is not belljar's to decide.
func (j *job) settleWindow(system string, offered []tools.Definition) error {
	tokens := j.asked.answer()
	if tokens == 0 {
		return nil
	}
	need, err := fixedTokens(system, offered)
	if err != nil {
		return err
	}
	if tokens*3/4 <= need { // a quarter is kept free for the answer
		j.screen.Notice(fmt.Sprintf("the model's server says that it takes %d tokens, of which the prompt and the tools alone take about %d: "+
			"give it a larger context (OLLAMA_CONTEXT_LENGTH for Ollama, -c for llama.cpp)", tokens, need))
		return nil
	}
	manifest, err := j.session.Manifest()
	if err != nil {
		return err
	}
	j.model.window = knownWindow{tokens, "server"}
	manifest.ContextWindow, manifest.ContextWindowFrom = tokens, j.model.window.from
	return j.session.SetManifest(manifest)
}

// fixedTokens estimates what every request has.
func fixedTokens(system string, offered []tools.Definition) (int, error) {
	req := model.Request{System: system}
	for _, def := range offered {
		schema, err := json.Marshal(def.Schema)
		if err != nil {
			return 0, fmt.Errorf("writing the schema of the tool %s: %w", def.Name, err)
		}
		req.Tools = append(req.Tools, model.ToolDefinition{Name: def.Name, Description: def.Description, Schema: schema})
	}
	return model.EstimateUsage(req, model.Response{}).Input, nil
}
