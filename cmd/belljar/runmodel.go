package main

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/openai"
	"github.com/belljar/belljar/agent/model/provider"
	"github.com/belljar/belljar/agent/model/script"
	"github.com/belljar/belljar/internal/demo"
)

// scriptPrefix marks a model that is a file of scripted answers.
const scriptPrefix = "script:"

// demoScript is the name of the scripted answers that belljar has in itself.
const demoScript = "demo"

// A chosenModel is a model under the name that it was asked for by. The
// provider is the profile by which it is asked, or "" for fixed answers.
type chosenModel struct {
	model.Model
	name, provider string
	price          knownPrice
	window         knownWindow
	ask            func(context.Context) (openai.Window, error) // asks its server for the window; nil has none
}

// Name is the name for the record.
func (m *chosenModel) Name() string { return m.name }

// chooseModel finds the model that the flags and the environment name, and its
// price.
func (a *app) chooseModel(flags *modelFlags, pricesFile string) (*chosenModel, error) {
	name := cmp.Or(flags.model, a.getenv("BELLJAR_MODEL"))
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
	opts, err := a.clientOptions(flags)
	if err != nil {
		return nil, err
	}
	// Fixed answers need no server and no key, but a mistake in what names
	// the server is one all the same.
	fixed := strings.HasPrefix(name, scriptPrefix) || strings.HasPrefix(name, replayPrefix)
	if opts.Model = name; fixed {
		opts.APIKey = ""
	} else if err := checkKey(opts); err != nil {
		return nil, err
	}
	client, err := openai.New(opts)
	if err != nil {
		return nil, &usageError{err: err}
	}
	price, err := a.findPrice(pricesFile, name, opts.BaseURL)
	if err != nil {
		return nil, err
	}
	if !fixed {
		return &chosenModel{client, name, opts.Provider.Name, price, flags.window(opts.Provider, name), client.AskWindow}, nil
	}
	answers, err := a.fixedModel(name)
	if err != nil {
		return nil, refused(err)
	}
	return &chosenModel{
		Model: answers, name: name, price: knownPrice{price: &model.Price{}}, // it asks nobody
		window: flags.window(provider.Profile{}, name),
	}, nil
}

// checkKey refuses to ask a provider at its own address without a key.
func checkKey(opts openai.Options) error {
	if opts.APIKey == "" && opts.BaseURL == opts.Provider.BaseURL && strings.HasPrefix(opts.BaseURL, "https://") {
		return usagef("%s is not set, and %s wants a key; set it, or name your own server with --base-url", keyVariable, opts.Provider.Name)
	}
	return nil
}

// clientOptions say which server to ask, and how. An address from the
// environment gives way to that of a provider whom a flag names: task and key
// are not for another server.
func (a *app) clientOptions(flags *modelFlags) (openai.Options, error) {
	opts := openai.Options{BaseURL: cmp.Or(flags.baseURL, a.getenv(addressVariable)), APIKey: a.getenv(keyVariable), IdleTimeout: flags.idleTimeout}
	if flags.provider == "" {
		opts.Provider = provider.At(cmp.Or(opts.BaseURL, openai.DefaultBaseURL))
	} else {
		named, err := provider.Named(flags.provider)
		if err != nil {
			return opts, &usageError{err: err}
		}
		opts.Provider = named
		// Who names a service means it, and not the server that the variable
		// leads to. A program that one runs oneself may be anywhere.
		if strings.HasPrefix(named.BaseURL, "https://") {
			opts.BaseURL = flags.baseURL
		}
	}
	p := opts.Provider
	switch {
	case opts.BaseURL != "":
	case p.BaseURL == "":
		return opts, usagef("the provider %s has no address of its own; name your server with --base-url", p.Name)
	default:
		opts.BaseURL = p.BaseURL
	}
	if flags.images && !p.Images {
		return opts, usagef("the provider %s takes no images; leave --images away, or give --provider generic", p.Name)
	}
	return opts, nil
}

// fixedModel reads the answers that a name stands for.
func (a *app) fixedModel(name string) (model.Model, error) {
	if id, recorded := strings.CutPrefix(name, replayPrefix); recorded {
		return a.recordedModel(id)
	}
	return scriptedModel(strings.TrimPrefix(name, scriptPrefix))
}

// scriptedModel reads a file of scripted answers.
func scriptedModel(file string) (model.Model, error) {
	if file == demoScript {
		return script.New("demo.yaml", demo.Script())
	}
	return script.Load(file)
}
