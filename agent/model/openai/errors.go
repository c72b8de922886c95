package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/belljar/belljar/agent/model"
	"github.com/openai/openai-go/v3/option"
)

// maxErrorBody bounds what is read of a refusal. Some hold all that the model
// wrote, such as a large file.
const maxErrorBody = 1 << 20

// refusal turns every answer that is not a success into a model.Error. It
// stands in for the SDK's own handling, which reads the body without a bound
// and fails on one that is not JSON.
func (c *Client) refusal(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(req)
	if err != nil || res.StatusCode >= 200 && res.StatusCode < 300 {
		return res, err
	}
	defer res.Body.Close()
	// What came before a failure is still the best there is to say.
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	// Before anything is cut short: the half of a key is known by no pattern.
	return nil, statusError(res, []byte(c.redact(string(body))))
}

// explain says why a request failed, for the user, without any key. The outer
// context is the caller's; the inner one also ends when the request stalls.
func (c *Client) explain(outer, inner context.Context, err error) error {
	if outer.Err() != nil {
		return fmt.Errorf("asking %s: %w", c.model, context.Cause(outer))
	}
	var e *model.Error
	var stalled *stall
	switch {
	case errors.As(context.Cause(inner), &stalled):
		e = &model.Error{Kind: stalled.kind(), Message: stalled.Error()}
	case errors.As(err, &e):
	default:
		e = transportError(err)
	}
	out := *e
	// The cause stays out of the chain: its text may hold an address with a key.
	out.Err = nil
	out.Said = c.redact(e.Said)
	out.Message = c.redact(fmt.Sprintf("asking %s at %s: %s", c.model, c.host, e.Message))
	return &out
}

// statusError is a refusal by HTTP status.
func statusError(res *http.Response, body []byte) *model.Error {
	d := readDetail(body)
	e := &model.Error{
		Kind: kindOf(res.StatusCode, d), StatusCode: res.StatusCode, RetryAfter: d.retryAfter(res.Header, body), Call: d.refusedCall(),
		Said: d.text(),
	}
	if res.StatusCode == http.StatusTooManyRequests && e.Kind == model.Permanent && e.RetryAfter > 0 && !d.namesBill() {
		// Google words the limit of a minute like one of the bill, but says when
		// it is over.
		e.Kind = model.RateLimited
	}
	if e.Kind == model.Context {
		e.Limit, e.Size = overflow(string(body))
	}
	e.Message = strings.TrimSpace(fmt.Sprintf("%d %s", res.StatusCode, http.StatusText(res.StatusCode)))
	if e.Said != "" {
		e.Message += ": " + e.Said
	}
	switch {
	case res.StatusCode >= 300 && res.StatusCode < 400:
		e.Message += "; it sends elsewhere, so check the base url"
		if to := res.Header.Get("Location"); to != "" {
			e.Message += ": " + oneLine(withoutQuery(to))
		}
	case e.Kind == model.Auth:
		e.Message += "; check the key in OPENAI_API_KEY"
	case res.StatusCode == http.StatusNotFound:
		advice := unserved(refusal(strings.ToLower(d.message)))
		e.Message += "; " + cmp.Or(advice, "check the model's name and the base url, most end in /v1")
	}
	return e
}

// withoutQuery is an address less what may hold a secret and never tells where
// to: a login page is often sent the whole request in its query.
func withoutQuery(address string) string {
	if at := strings.IndexAny(address, "?#"); at >= 0 {
		return address[:at] + "?…"
	}
	return address
}

// streamError is an error object inside an answer that began with 200.
func streamError(object []byte) *model.Error {
	d := readDetail(object)
	status := d.status
	e := &model.Error{Kind: kindOf(status, d), StatusCode: status, RetryAfter: d.retryAfter(nil, object), Call: d.refusedCall(), Said: d.text()}
	if e.Kind == model.Context {
		e.Limit, e.Size = overflow(string(object) + d.source)
	}
	e.Message = "the server broke off the answer: " + e.Said
	if advice := unserved(refusal(strings.ToLower(d.message))); status == http.StatusNotFound && advice != "" {
		e.Message += "; " + advice
	}
	return e
}

// isOverflow tells the ways in which servers say that a conversation is too
// long for the model.
func isOverflow(said string) bool {
	return containsAny(said,
		"exceed context limit", "maximum allowed length", "maximum allowed content length", "maximum input length",
		"contextwindowexceeded", "tokens_limit_reached", "request body too large", "request payload size exceeds",
		"exceed max message tokens", "too many tokens: ", "`inputs` tokens + `max_new_tokens` must be", "`inputs` must have less than",
		"tokens must be reduced", "reduce your message size",

		"context_length_exceeded", "context length", "context window", "context size", "exceed_context_size",
		"prompt is too long", "prompt too long", "input is too long", "input token count",
		"reduce the length of the messages", "too many input tokens", "request too large",
		"maximum number of tokens allowed", "model_max_prompt_tokens_exceeded", "maximum prompt length", "maximum model length",
		"exceeded model token limit", "range of input length should be", "prompt exceeds max length")
}

func containsAny(text string, parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// oneLine makes a text from outside fit for a message: one line of a bounded
// length.
func oneLine(text string) string {
	const most = 1000
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\ufffd"), func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
