package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/belljar/belljar/agent/model"
	"github.com/openai/openai-go/v3/option"
)

// maxErrorBody bounds what is read of a refusal.
const maxErrorBody = 64 << 10

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
	out.Message = c.redact(fmt.Sprintf("asking %s at %s: %s", c.model, c.host, e.Message))
	return &out
}

// A detail is what a server says about a failure, from any of the shapes in
// use.
type detail struct {
	message, kind, code, param string
}

// readDetail finds the detail in a JSON body or error object; a body of
// another kind is the message itself, unless it is a web page.
func readDetail(body []byte) detail {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		var message string
		if json.Unmarshal(body, &message) == nil {
			return detail{message: message}
		}
		if text := strings.TrimSpace(string(body)); !strings.HasPrefix(text, "<") {
			return detail{message: text}
		}
		return detail{}
	}
	if inner, ok := fields["error"]; ok && isSet(inner) {
		return readDetail(inner)
	}
	d := detail{
		message: scalar(fields["message"]), kind: scalar(fields["type"]),
		code: scalar(fields["code"]), param: scalar(fields["param"]),
	}
	if d.message == "" {
		d.message = scalar(fields["detail"])
	}
	if d.message == "" {
		d.message = string(body)
	}
	return d
}

// namesBill tells refusals whose code or type names what was paid for as used
// up, which words of a message are no proof of.
func (d detail) namesBill() bool {
	return containsAny(strings.ToLower(d.code+" "+d.kind),
		"insufficient_quota", "exceeded_current_quota", "insufficient_balance", "insufficient_credits", "billing")
}

// scalar is a JSON string's text, or any other value as it is written.
func scalar(value json.RawMessage) string {
	var s string
	if !isSet(value) {
		return ""
	}
	if json.Unmarshal(value, &s) == nil {
		return s
	}
	return string(value)
}

// text is the detail in one line. The parameter's name is part of it, because
// dialect.adapt looks for it.
func (d detail) text() string {
	message := oneLine(d.message)
	for _, more := range []string{d.code, d.param} {
		if more != "" && !strings.Contains(message, more) {
			message += " (" + more + ")"
		}
	}
	return message
}

// statusError is a refusal by HTTP status.
func statusError(res *http.Response, body []byte) *model.Error {
	d := readDetail(body)
	e := &model.Error{
		Kind: kindOf(res.StatusCode, d), StatusCode: res.StatusCode, RetryAfter: retryAfter(res.Header, body, time.Now()),
	}
	if res.StatusCode == http.StatusTooManyRequests && e.RetryAfter > 0 && !d.namesBill() {
		// Google words the limit of a minute like one of the bill, but says when
		// it is over.
		e.Kind = model.RateLimited
	}
	if e.Kind == model.Context {
		e.Limit, e.Size = overflow(string(body))
	}
	e.Message = strings.TrimSpace(fmt.Sprintf("%d %s", res.StatusCode, http.StatusText(res.StatusCode)))
	if text := d.text(); text != "" {
		e.Message += ": " + text
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
	status, err := strconv.Atoi(d.code)
	if err != nil || status < 400 || status > 599 {
		status = 0
	}
	e := &model.Error{Kind: kindOf(status, d), StatusCode: status, RetryAfter: retryHint(object)}
	if e.Kind == model.Context {
		e.Limit, e.Size = overflow(string(object))
	}
	e.Message = "the server broke off the answer: " + d.text()
	if advice := unserved(refusal(strings.ToLower(d.message))); status == http.StatusNotFound && advice != "" {
		e.Message += "; " + advice
	}
	return e
}

// kindOf sorts a refusal. Status 0 is an error without one.
func kindOf(status int, d detail) model.Kind {
	said := strings.ToLower(d.message + " " + d.kind + " " + d.code)
	switch {
	case d.namesBill(), containsAny(said, "insufficient_quota", "exceeded your current quota", "billing"):
		return model.Permanent
	case status == http.StatusTooManyRequests, status == 0 && containsAny(said, "rate_limit", "rate limit", "too many requests"):
		return model.RateLimited
	case containsAny(said, "content_filter", "content_policy", "content management policy"):
		return model.Filtered
	case isOverflow(said):
		return model.Context
	case status == http.StatusBadRequest && containsAny(said, "api key not valid", "api_key_invalid", "invalid api key"):
		return model.Auth
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return model.Auth
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		return model.Transient
	case http.StatusNotImplemented:
		return model.Permanent
	case 0:
		if containsAny(said, "invalid_request", "invalid request", "not_found", "authentication", "permission", "invalid_api_key") {
			return model.BadRequest
		}
		return model.Transient // an answer that had begun is broken off by trouble on the server
	}
	switch {
	case status == http.StatusInternalServerError && refusal(said).fromTemplate():
		return model.BadRequest // the same conversation fails every time
	case status >= 500:
		return model.Transient
	case status >= 400 && status != http.StatusPaymentRequired:
		return model.BadRequest
	default:
		return model.Permanent
	}
}

// isOverflow tells the ways in which servers say that a conversation is too
// long for the model.
func isOverflow(said string) bool {
	return containsAny(said,
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
