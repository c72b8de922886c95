package openai

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/belljar/belljar/agent/model"
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

const (
	// tailTimeout bounds the wait for what follows a finished answer: the
	// token counts and the end marker. The answer is good without them.
	tailTimeout = 10 * time.Second
	// drainTimeout bounds the wait for the end of the body after the end
	// marker; a body that was read to its end leaves the connection usable.
	drainTimeout = 250 * time.Millisecond
)

// Generate implements model.Model.
func (c *Client) Generate(ctx context.Context, req model.Request, onText func(string)) (model.Response, error) {
	for {
		d, a := c.currentDialect(), &answer{onText: onText, redact: c.redact}
		resp, err := c.once(ctx, req, d, a)
		if err == nil {
			return resp, nil
		}
		// Each round takes one thing out of the dialect, so this ends. What has
		// begun is no refusal of the request, and would be handed out twice.
		if a.begun {
			return model.Response{}, err
		}
		change, again := c.adapt(d, req, err)
		if !again {
			return model.Response{}, err
		}
		if req.Resend != nil {
			if err := req.Resend(model.Resend{Err: c.withoutAdvice(err), Change: change}); err != nil {
				return model.Response{}, err
			}
		}
	}
}

// once sends one request and reads its answer into a.
func (c *Client) once(ctx context.Context, req model.Request, d dialect, a *answer) (model.Response, error) {
	params, err := c.buildParams(req, d)
	if err != nil {
		return model.Response{}, model.Errorf(model.BadRequest, "asking %s: %w", c.model, err)
	}
	watch, watched := startWatch(ctx, c.connect, c.first)
	defer watch.stop()
	err = c.exchange(watched, watch, params, a)
	if err == nil {
		var resp model.Response
		if resp, err = a.response(); err == nil {
			err = c.trust(a)
		}
		if err == nil {
			resp.Usage = a.tokens(req, resp)
			return c.complete(req, resp), nil
		}
	}
	return model.Response{}, spent(c.explain(ctx, watched, err), req, a)
}

// complete fills in what the server left out.
func (c *Client) complete(req model.Request, resp model.Response) model.Response {
	for i := range resp.Calls {
		if resp.Calls[i].Extra != "" {
			resp.Calls[i].Origin = c.host
		}
	}
	model.AssignIDs(req.Messages, resp.Calls)
	return resp
}

// exchange sends the request and adds everything that comes back to a.
func (c *Client) exchange(ctx context.Context, watch *watch, params sdk.ChatCompletionNewParams, a *answer) error {
	var res *http.Response
	_, err := c.completions.New(ctx, params, option.WithJSONSet("stream", true), option.WithResponseBodyInto(&res))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	watch.connected(c.first)
	body := bufio.NewReader(watchedReader{res.Body, watch})
	first, err := firstByte(body)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	add := func(e event) error {
		whole := a.finished()
		moved, err := a.add(e)
		a.begun = a.begun || moved
		switch {
		case err != nil && whole:
			return io.EOF // what comes after a whole answer cannot spoil it
		case err != nil:
			return err
		case whole:
			// The tail as a whole is bounded, not each piece of it.
		case a.finished(): // a reason alone; one beside a piece may come with each
			watch.next(ending, min(tailTimeout, c.idle))
		case moved:
			watch.next(going, c.idle)
		}
		return nil
	}
	switch first {
	case '{':
		err = readDocuments(body, add)
	case '<':
		return model.Errorf(model.Permanent, "it answered with a web page; check the base url, most end in /v1")
	default:
		err = readEvents(body, add)
	}
	if a.done && err == nil {
		watch.next(ending, drainTimeout)
		_, _ = io.CopyN(io.Discard, body, 4<<10)
	}
	if a.finished() {
		return nil // a finished answer needs no end marker
	}
	return err
}

// readEvents hands each event of a stream to add until the end marker.
func readEvents(body *bufio.Reader, add func(event) error) error {
	events := eventReader{r: body}
	for {
		e, err := events.next()
		if err == nil {
			err = add(e)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case e.isEnd():
			return nil
		}
	}
}

// readDocuments reads an answer that is plain JSON: servers that cannot stream
// send one object, and some send one a line.
func readDocuments(body *bufio.Reader, add func(event) error) error {
	dec := json.NewDecoder(io.LimitReader(body, maxAnswer))
	for {
		var doc json.RawMessage
		err := dec.Decode(&doc)
		if err == nil {
			err = add(event{data: doc, document: true})
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// firstByte peeks at the first byte that is not white space. It tells what the
// body is; the declared content type is often wrong.
func firstByte(body *bufio.Reader) (byte, error) {
	const bom = "\ufeff"
	if b, err := body.Peek(1); err == nil && b[0] == bom[0] {
		if mark, _ := body.Peek(len(bom)); string(mark) == bom {
			_, _ = body.Discard(len(bom))
		}
	}
	for {
		b, err := body.Peek(1)
		if err != nil {
			return 0, err
		}
		switch b[0] {
		case ' ', '\t', '\r', '\n':
			_, _ = body.Discard(1)
		default:
			return b[0], nil
		}
	}
}
