package main

import (
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

// fits tells a window into which the prompt and the tools go, and something
// beside them: the rest is for the agent to say, as with a window of the flag.
func fits(need, tokens int) bool { return tokens > need }

// takeWindow takes what the server said, puts it into the manifest, and tells
// where it is too little. 0 is nothing.
func (j *job) takeWindow(need, tokens int) (notices []trajectory.Notice) {
	if tokens == 0 {
		return nil
	}
	j.model.window = knownWindow{tokens, "server"}
	if manifest, err := j.session.Manifest(); err == nil {
		manifest.ContextWindow, manifest.ContextWindowFrom = tokens, j.model.window.from
		_ = j.session.SetManifest(manifest) // of use even where the manifest cannot say it
	}
	if fits(need, tokens) {
		return nil
	}
	return []trajectory.Notice{{Kind: trajectory.NoticeWindow, Text: smallWindow(need, tokens, j.model.provider)}}
}

// startWindow takes what the server has said when the run starts.
func (j *job) startWindow(need int) []trajectory.Notice {
	return j.takeWindow(need, j.search.atStart(func(tokens int) bool { return fits(need, tokens) }))
}

// findWindow takes what the server has said after an answer.
func (j *job) findWindow(need int) int {
	tokens := j.search.afterAnswer()
	for _, notice := range j.takeWindow(need, tokens) {
		// A record that cannot be written ends the run by the event that comes next.
		_ = j.record.Record(notice)
	}
	return tokens
}

// smallWindow says what a window means into which hardly anything fits.
func smallWindow(need, tokens int, provider string) string {
	return fmt.Sprintf("the model's server says that it takes %d tokens, and the prompt and the tools alone have about %d: %s",
		tokens, need, largerWindow(provider))
}

// largerWindow says how to get a larger window.
func largerWindow(provider string) string {
	switch provider {
	case "ollama":
		return "give it a larger context, by OLLAMA_CONTEXT_LENGTH or the model's own num_ctx"
	case "llama.cpp":
		return "start it with a larger context (-c, of which each slot has a part)"
	case "vllm":
		return "start it with a larger --max-model-len"
	case "lmstudio":
		return "load the model with a larger context length"
	default:
		return "use a model that takes more"
	}
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
