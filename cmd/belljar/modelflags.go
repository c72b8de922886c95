package main

import (
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/belljar/belljar/agent/model/provider"
)

// leastWindow is the smallest context window that can be given: the tools alone
// take more than that.
const leastWindow = 1000

// modelFlags say which model to ask, where, and how.
type modelFlags struct {
	model, baseURL, provider string
	images                   bool
	contextWindow            float64
	idleTimeout              time.Duration
}

func (f *modelFlags) add(flags *pflag.FlagSet) {
	addText(flags, &f.model, "model", "", "", "model to ask, or script:FILE, or replay:ID (default $BELLJAR_MODEL)")
	addText(flags, &f.baseURL, "base-url", "", "", "address of the model's server (default that of --provider, or $OPENAI_BASE_URL)")
	addText(flags, &f.provider, "provider", "", "", "whose habits the server has (default by --base-url, generic where that tells nothing): "+strings.Join(provider.Names(), ", "))
	flags.Var(numberValue{number: &f.contextWindow, whole: true, least: leastWindow}, "context-window", "tokens that the model takes, prompt and answer together (default known for some models, and asked of some servers)")
	flags.Var(durationValue{&f.idleTimeout}, "idle-timeout", "how long the model's server may be silent in an answer, and before it where that is more than 10m (default 3m or 10m by --provider)")
	flags.BoolVar(&f.images, "images", false, "the model takes images: give it those that read_file finds, which are only described otherwise")
}
