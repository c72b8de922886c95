package main

import (
	"cmp"
	"encoding/json"
	"net/url"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/openai"
	"github.com/belljar/belljar/agent/model/prices"
	"github.com/belljar/belljar/agent/trajectory"
)

// A knownPrice is what a model costs, and where that is from.
type knownPrice struct {
	price *model.Price // nil is unknown
	from  string
	entry json.RawMessage // for the record
}

// findPrice looks a model of a server up in the user's own list, if there is
// one, and then in belljar's. A list that cannot be read is an error: the
// user means it.
func (a *app) findPrice(file, name, baseURL string) (knownPrice, error) {
	address, err := url.Parse(cmp.Or(baseURL, openai.DefaultBaseURL))
	if err != nil {
		return knownPrice{}, nil // whoever opens the model says so, without a key
	}
	if file = cmp.Or(file, a.getenv("BELLJAR_PRICES")); file != "" {
		own, err := prices.Load(file)
		if err != nil {
			return knownPrice{}, &usageError{err: err}
		}
		if entry, ok := own.Find(address.Hostname(), name); ok {
			return known(entry, file)
		}
	}
	builtIn, err := prices.BuiltIn()
	if err != nil {
		return knownPrice{}, err
	}
	if entry, ok := builtIn.Find(address.Hostname(), name); ok {
		return known(entry, "built-in "+builtIn.AsOf)
	}
	return knownPrice{}, nil
}

// known is the price of an entry.
func known(entry prices.Entry, from string) (knownPrice, error) {
	text, err := json.Marshal(entry)
	return knownPrice{price: &entry.Price, from: from, entry: text}, err
}

// checkCost refuses a limit on a cost that nobody can tell.
func (o *runOptions) checkCost(m *chosenModel) error {
	if o.maxCost > 0 && m.price.price == nil {
		return usagef("--max-cost cannot be kept, for the price of %s is not known; name it in a list with --prices", m.name)
	}
	return nil
}

// budget is what the run may use, for the record.
func (o *runOptions) budget() trajectory.Budget {
	return trajectory.Budget{
		Turns: cmp.Or(int(o.maxTurns), agent.DefaultMaxTurns), Requests: int(o.maxRequests), Tokens: int(o.maxTokens),
		CostUSD: o.maxCost, TimeMS: o.maxTime.Milliseconds(), WaitMS: o.maxWait.Milliseconds(),
	}
}
