package openai

import (
	"errors"
	"net/http"
	"regexp"
	"strings"

	"github.com/belljar/belljar/agent/model"
)

// A dialect is what a server takes and wants. It starts as what most servers
// take; each refusal that names a part changes that part, once and for good.
type dialect struct {
	// noUsage: stream_options is refused, so token counts cannot be asked for.
	noUsage bool
	// completionTokens: the limit of an answer is max_completion_tokens; the
	// default is max_tokens, which is older and known to more servers.
	completionTokens bool
	// reasoning: reasoning_content of earlier answers is wanted back.
	reasoning bool
	// emptyContent: content beside tool calls must be a text, if an empty one;
	// the default is null.
	emptyContent bool
	// bridge: a user message may not follow a tool's result directly.
	bridge bool
}

func (c *Client) currentDialect() dialect {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dialect
}

// adapt reports whether the request that failed with the dialect used is worth
// sending again, because the dialect is another one now.
func (c *Client) adapt(used dialect, req model.Request, err error) bool {
	next, changed := used.adapt(req, err)
	if !changed {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// Another request may have learned something else at the same time.
	c.dialect = dialect{
		noUsage:          c.dialect.noUsage || next.noUsage,
		completionTokens: c.dialect.completionTokens || next.completionTokens,
		reasoning:        c.dialect.reasoning || next.reasoning,
		emptyContent:     c.dialect.emptyContent || next.emptyContent,
		bridge:           c.dialect.bridge || next.bridge,
	}
	return true
}

// adapt returns the dialect that the refusal asks for.
func (d dialect) adapt(req model.Request, err error) (next dialect, changed bool) {
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.BadRequest ||
		e.StatusCode != http.StatusBadRequest && e.StatusCode != http.StatusUnprocessableEntity {
		return d, false
	}
	next = d
	said := strings.ToLower(e.Message)
	switch {
	case !d.noUsage && containsAny(said, "stream_options", "include_usage"):
		next.noUsage = true
	case !d.completionTokens && req.MaxTokens > 0 && containsAny(said, "max_tokens", "max_completion_tokens"):
		next.completionTokens = true
	case !d.reasoning && strings.Contains(said, "reasoning_content") && hasReasoning(req.Messages):
		next.reasoning = true
	case !d.bridge && namesUserAfterTool(said):
		next.bridge = true
	case !d.emptyContent && strings.Contains(said, "content") && hasSilentCalls(req.Messages):
		next.emptyContent = true
	}
	return next, next != d
}

// namesUserAfterTool tells refusals such as "unexpected role 'user' after role
// 'tool'".
func namesUserAfterTool(said string) bool {
	return regexp.MustCompile(`\buser\b.* after (the |an? )?(role )?["'` + "`" + `]?tool\b`).MatchString(said)
}

// hasReasoning reports whether there is reasoning to hand back.
func hasReasoning(messages []model.Message) bool {
	for _, m := range messages {
		if m.Role == model.Assistant && m.Reasoning != "" {
			return true
		}
	}
	return false
}

// hasSilentCalls reports whether an assistant message has calls and no text.
func hasSilentCalls(messages []model.Message) bool {
	for _, m := range messages {
		if m.Role == model.Assistant && m.Text == "" && len(m.Calls) > 0 {
			return true
		}
	}
	return false
}
