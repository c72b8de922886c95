package openai

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/provider"
)

// A dialect is how requests are written now: the profile's rules, less what
// the server has refused. Each part is changed at most once in a client's life,
// so that two refusals that contradict each other cannot go on for ever.
type dialect struct {
	provider.Rules
	changed parts
}

// parts are the parts of a dialect that were changed.
type parts uint

func (c *Client) currentDialect() dialect {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dialect
}

// adapt reports whether the request that failed with the dialect used is worth
// sending again, because the dialect is another one now, and says how. Only the
// server's own words count: the rest of a message holds the model's name and
// belljar's advice, in which parts of a request are named as well.
func (c *Client) adapt(used dialect, req model.Request, err error) (change string, again bool) {
	var e *model.Error
	if !errors.As(err, &e) || !namesAPart(e) {
		return "", false
	}
	said := withoutName(e.Said, c.model)
	c.mu.Lock()
	defer c.mu.Unlock()
	again = true
	if c.dialect == used { // otherwise another request has learned something in the meantime
		c.dialect, again = used.adapt(req, said)
	}
	return c.dialect.since(used), again
}

// withoutName is a text less the name of the model, of which "vision" or
// "image" may be a part. A name of one word may stand for itself.
func withoutName(said, name string) string {
	for _, name := range []string{name, path.Base(name)} {
		if strings.ContainsAny(name, "-/:._") {
			said = strings.ReplaceAll(said, name, "the model")
		}
	}
	return said
}

// withoutAdvice is a refusal in the server's own words, for whom it is dealt with.
func (c *Client) withoutAdvice(err error) error {
	var e *model.Error
	if !errors.As(err, &e) {
		return err
	}
	out := *e
	out.Message = fmt.Sprintf("asking %s at %s: %d %s: %s", c.model, c.host, e.StatusCode, http.StatusText(e.StatusCode), e.Said)
	return &out
}

// namesAPart tells refusals that may be about how a request is written. Servers
// that render a template fail with 500 where the template refuses, and a router
// of providers with 404 where none of them takes a part.
func namesAPart(e *model.Error) bool {
	switch e.StatusCode {
	case http.StatusNotFound:
		return unserved(refusal(strings.ToLower(e.Said))) != ""
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError:
		return e.Kind == model.BadRequest
	default:
		return false
	}
}

// adapt returns the dialect that the refusal asks for.
func (d dialect) adapt(req model.Request, said string) (next dialect, ok bool) {
	r := refusal(strings.ToLower(said))
	for i, s := range switches() {
		part := parts(1) << i
		if d.changed&part != 0 || !s.names(r, d.Rules, req) {
			continue
		}
		next = d
		s.change(&next.Rules, r)
		if next.Rules == d.Rules {
			continue // it is written as it is asked for; the same request would be refused again
		}
		next.changed |= part
		return next, true
	}
	return d, false
}

// since says what has been changed since a dialect that was used.
func (d dialect) since(used dialect) string {
	var changes []string
	for i, s := range switches() {
		if part := parts(1) << i; (d.changed&^used.changed)&part != 0 {
			changes = append(changes, s.says(d.Rules))
		}
	}
	return strings.Join(changes, ", and ")
}

// hasCalls reports whether a message asks for tools.
func hasCalls(req model.Request) bool {
	return slices.ContainsFunc(req.Messages, func(m model.Message) bool { return len(m.Calls) > 0 })
}

// hasImages reports whether a result holds an image.
func hasImages(req model.Request) bool {
	return slices.ContainsFunc(req.Messages, func(m model.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p model.Part) bool { return p.MediaType != "" })
	})
}

// hasSeveralCalls reports whether a message asks for several tools at once.
func hasSeveralCalls(req model.Request) bool {
	return slices.ContainsFunc(req.Messages, func(m model.Message) bool { return len(m.Calls) > 1 })
}

// hasSilentCalls reports whether an assistant message has calls and no text.
func hasSilentCalls(req model.Request) bool {
	return slices.ContainsFunc(req.Messages, func(m model.Message) bool {
		return m.Role == model.Assistant && blankText(m.Text) && len(m.Calls) > 0
	})
}
