package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/provider"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

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

// settleWindow takes what the model's server said of its window before the run.
func (j *job) settleWindow(need int) error {
	if tokens := j.asked.answer(); fits(need, tokens) {
		return j.takeWindow(tokens)
	}
	return nil
}

// fits tells a window that is of use: one into which not even the prompt and the
// tools fit may be what another client loaded the model with, and whether to go
// on with it is not belljar's to decide. A quarter is kept free for the answer.
func fits(need, tokens int) bool { return tokens*3/4 > need }

// takeWindow takes what the server said, and puts it into the manifest.
func (j *job) takeWindow(tokens int) error {
	j.model.window = knownWindow{tokens, "server"}
	manifest, err := j.session.Manifest()
	if err != nil {
		return err
	}
	manifest.ContextWindow, manifest.ContextWindowFrom = tokens, j.model.window.from
	return j.session.SetManifest(manifest)
}

// findWindow gives a func that asks once more, after the first answer, and has
// the result later: by then the model is loaded as it is for belljar.
func (j *job) findWindow(ctx context.Context, need int) func() int {
	var asked *windowQuestion
	taken := false
	return func() int {
		switch {
		case taken:
			return 0
		case asked == nil:
			if asked = j.model.askWindow(ctx); asked != nil {
				j.closers = append(j.closers, asked.Close)
			}
			return 0
		case !asked.isAnswered():
			return 0
		}
		taken = true
		tokens := asked.answer()
		switch {
		case fits(need, tokens):
			_ = j.takeWindow(tokens) // of use even where the manifest cannot say it
			return tokens
		case tokens > 0:
			// A record that cannot be written ends the run by the event that comes next.
			_ = j.record.Record(trajectory.Notice{Kind: trajectory.NoticeWindow, Text: smallWindow(need, tokens)})
		}
		return 0
	}
}

// smallWindow says what a window means into which hardly anything fits.
func smallWindow(need, tokens int) string {
	return fmt.Sprintf("the model's server says that it takes %d tokens, of which the prompt and the tools alone take about %d: "+
		"give it a larger context (OLLAMA_CONTEXT_LENGTH for Ollama, -c for llama.cpp)", tokens, need)
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
