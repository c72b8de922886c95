package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/belljar/belljar/agent/model/provider"
)

// maxWindowAnswer bounds what is read of a server's list of models. The longest
// known has about a megabyte.
const maxWindowAnswer = 2 << 20

// errNotTold is a server that does not say what a model takes.
var errNotTold = errors.New("the server does not say how many tokens the model takes")

// A Window is what a server says that a model takes.
type Window struct {
	// Tokens are those of prompt and answer together.
	Tokens int
	// Passing tells that another number may be in force once the server has
	// answered a request; see provider.WindowSource.
	Passing bool
}

// AskWindow asks the server how many tokens the model takes, prompt and answer
// together, where the profile knows a place to ask; see provider.WindowSource.
// It is the number in force at the time. The context bounds the wait for all of it. An error holds no key.
func (c *Client) AskWindow(ctx context.Context) (Window, error) {
	err := errNotTold
	for _, source := range c.windows {
		var tokens int
		if tokens, err = c.askSource(ctx, source); err == nil {
			return Window{tokens, source.Passing}, nil
		}
	}
	return Window{}, fmt.Errorf("asking %s for the window of %s: %s", c.host, c.model, c.redact(err.Error()))
}

// askSource asks in one place.
func (c *Client) askSource(ctx context.Context, source provider.WindowSource) (int, error) {
	req, err := c.windowRequest(ctx, source)
	if err != nil {
		return 0, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, transportError(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return 0, errors.New(res.Status)
	}
	tokens, err := readTokens(ctx, io.LimitReader(res.Body, maxWindowAnswer), source, c.model)
	switch {
	case err != nil:
		return 0, fmt.Errorf("reading its answer: %w", err)
	case tokens == 0:
		return 0, errNotTold
	default:
		return tokens, nil
	}
}

// windowRequest is a question to a source, with the key and the query of the
// address, as with any other request.
func (c *Client) windowRequest(ctx context.Context, source provider.WindowSource) (*http.Request, error) {
	at, query := *c.base, c.query()
	if strings.HasPrefix(source.Path, "/") {
		at.Path, at.RawPath = strings.TrimSuffix(at.Path, "/v1"), ""
	}
	at = *at.JoinPath(source.Path)
	for name, value := range source.Query {
		if value == provider.ModelName {
			value = c.model
		}
		query.Set(name, value)
	}
	at.RawQuery = query.Encode()
	method, body := http.MethodGet, []byte(nil)
	if source.Post {
		var err error
		if body, err = json.Marshal(map[string]string{"model": c.model}); err != nil {
			return nil, err
		}
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, at.String(), bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the address is none") // the parser's own message repeats it
	}
	if source.Post {
		req.Header.Set("Content-Type", "application/json")
	}
	c.sign(req.Header)
	return req, nil
}
