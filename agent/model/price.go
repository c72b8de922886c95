package model

// A Price is what a server takes for tokens.
type Price struct {
	Rates
	// Long are the rates of requests with long prompts; nil is none.
	Long *LongRates `json:"long,omitempty"`
}

// Rates are US dollars for a million tokens of each kind.
type Rates struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
	// Cached is the rate of input that the server had kept from before; nil is
	// that of any other input.
	Cached *float64 `json:"cached,omitempty"`
	// Reasoning is the rate of what the model thought; nil is that of any
	// other output.
	Reasoning *float64 `json:"reasoning,omitempty"`
}

// LongRates hold for a request whose input is more than Above tokens, for all
// of its tokens.
type LongRates struct {
	Above int `json:"above"`
	Rates
}

// Cost is what one answer cost, in US dollars.
func (p Price) Cost(u Usage) float64 {
	rates := p.Rates
	if p.Long != nil && u.Input > p.Long.Above {
		rates = p.Long.Rates
	}
	cached, reasoning := min(u.Cached, u.Input), min(u.Reasoning, u.Output)
	return (float64(u.Input-cached)*rates.Input + float64(cached)*or(rates.Cached, rates.Input) +
		float64(u.Output-reasoning)*rates.Output + float64(reasoning)*or(rates.Reasoning, rates.Output)) / 1e6
}

// or is the rate, or the other one where there is none.
func or(rate *float64, other float64) float64 {
	if rate == nil {
		return other
	}
	return *rate
}
