package main

import "github.com/belljar/belljar/agent/model/provider"

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
