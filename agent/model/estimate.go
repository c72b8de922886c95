package model

// bytesPerToken is a rough mean over English text and source code with common
// tokenizers.
const bytesPerToken = 4

// imageTokens is a rough cost of one image.
const imageTokens = 1000

// EstimateUsage guesses the tokens of a request and its answer, for servers
// that do not count them.
func EstimateUsage(req Request, resp Response) Usage {
	size, images := len(req.System), 0
	for _, t := range req.Tools {
		size += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range req.Messages {
		size += len(m.Text) + callsSize(m.Calls)
		for _, p := range m.Parts {
			size += len(p.Text)
			if p.MediaType != "" {
				images++
			}
		}
	}
	return Usage{
		Input:     tokens(size) + images*imageTokens,
		Output:    tokens(len(resp.Text) + len(resp.Reasoning) + callsSize(resp.Calls)),
		Estimated: true,
	}
}

func tokens(size int) int { return (size + bytesPerToken - 1) / bytesPerToken }

func callsSize(calls []ToolCall) int {
	size := 0
	for _, c := range calls {
		size += len(c.Name) + len(c.Arguments)
	}
	return size
}
