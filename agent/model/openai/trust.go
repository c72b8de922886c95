package openai

import "github.com/belljar/belljar/agent/model"

// trust decides on an answer that looks whole, but whose end leaves a doubt. A
// server that loses its model may end a stream in the same way as one that never
// says more. So it is asked once more, and when that ends in the same way it is
// the server's habit, and believed. A provider that is known to give a reason is
// not believed without one.
func (c *Client) trust(a *answer) error {
	doubt := a.doubt()
	if doubt != "" && a.end.reason == "" && !c.noReason {
		return model.Errorf(model.Cut, "the answer was cut: %s", doubt)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if doubt == "" {
		c.doubted = false // if there was one before, it was cut
		return nil
	}
	if !c.doubted {
		c.doubted = true
		return model.Errorf(model.Cut, "%s, so it may be cut; it is believed if the next one ends in the same way", doubt)
	}
	return nil
}
