package main

import (
	"cmp"
	"errors"
	"strings"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/openai"
	"github.com/belljar/belljar/agent/model/script"
	"github.com/belljar/belljar/internal/demo"
)

// scriptPrefix marks a model that is a file of scripted answers.
const scriptPrefix = "script:"

// demoScript is the name of the scripted answers that belljar has in itself.
const demoScript = "demo"

// A chosenModel is a model under the name that it was asked for by.
type chosenModel struct {
	model.Model
	name string
}

// Name is the name for the record.
func (m *chosenModel) Name() string { return m.name }

// chooseModel finds the model that the flags and the environment name. A
// request that fails for a reason that may pass is tried again; notify is told
// before each wait.
func (a *app) chooseModel(name, baseURL string, notify func(model.Wait) error) (*chosenModel, error) {
	name = cmp.Or(name, a.getenv("BELLJAR_MODEL"))
	if name == "" {
		return nil, &usageError{
			err: errors.New("no model is set; name one with --model or BELLJAR_MODEL"),
			hints: []string{
				"--model NAME                  with OPENAI_API_KEY set: a model of OpenAI",
				"--model NAME --base-url URL   a model of any compatible server, such as http://localhost:11434/v1",
				"--model script:demo           scripted answers, to see how a run looks",
			},
		}
	}
	if file, ok := strings.CutPrefix(name, scriptPrefix); ok {
		scripted, err := scriptedModel(file)
		if err != nil {
			return nil, refused(err)
		}
		return &chosenModel{scripted, name}, nil
	}
	opts := openai.Options{
		Model: name, BaseURL: cmp.Or(baseURL, a.getenv("OPENAI_BASE_URL")), APIKey: a.getenv(keyVariable),
	}
	if opts.APIKey == "" && opts.BaseURL == "" {
		return nil, usagef("%s is not set, and without --base-url the model is OpenAI's; set it, or name your own server", keyVariable)
	}
	client, err := openai.New(opts)
	if err != nil {
		return nil, &usageError{err: err}
	}
	return &chosenModel{model.WithRetry(client, model.RetryPolicy{Notify: notify}), name}, nil
}

// scriptedModel reads a file of scripted answers.
func scriptedModel(file string) (model.Model, error) {
	if file == demoScript {
		return script.New("demo.yaml", demo.Script())
	}
	return script.Load(file)
}
