package openai

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent/model/provider"
)

// An endless reader says the same again and again after a beginning, and stops
// who reads it after some of it.
type endless struct {
	*strings.Reader
	again string
	left  int // beginnings anew before the stop
	stop  context.CancelFunc
}

func (e *endless) Read(p []byte) (int, error) {
	if e.Len() == 0 {
		e.Reset(e.again)
		if e.left--; e.left == 0 {
			e.stop()
		}
	}
	return e.Reader.Read(p)
}

// TestReadTokensEnds: reading ends with the context, however much there is to
// read and whatever is read over.
func TestReadTokensEnds(t *testing.T) {
	list := provider.WindowSource{List: "data", Names: []string{"id"}, Tokens: []string{"n"}}
	for name, test := range map[string]struct{ begin, again string }{
		"entries":          {`{"data":[0`, strings.Repeat(`,{"a":{}}`, 1000)},
		"numbers":          {`{"data":[0`, strings.Repeat(`,0`, 1000)},
		"before the list":  {`{"x":0`, strings.Repeat(`,"a":{}`, 1000)},
		"names of nothing": {`{"x":0`, strings.Repeat(`,"":[]`, 1000)},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			_, err := readTokens(ctx, &endless{strings.NewReader(test.begin), test.again, 20, stop}, list, "m")
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want that of the context", err)
			}
		})
	}
}

// A weighed reader looks from time to time at how much memory is held.
type weighed struct {
	io.Reader
	read, next int
	most       uint64
}

func (w *weighed) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if w.read += n; w.read >= w.next || err != nil {
		w.next = w.read + maxWindowAnswer/4
		var now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&now)
		w.most = max(w.most, now.HeapAlloc)
	}
	return n, err
}

// TestReadTokensIsFrugal: what is read over is not built up.
func TestReadTokensIsFrugal(t *testing.T) {
	const most = 8 * maxWindowAnswer // the answer as it is, some times over; built up it is more than twenty times as much
	list := provider.WindowSource{List: "data", Names: []string{"id"}, Tokens: []string{"n"}}
	one := provider.WindowSource{Tokens: []string{"n", "a.n", "b.c.n"}}
	fill := func(piece string) string { return strings.Repeat(piece, maxWindowAnswer/len(piece)) }
	for name, test := range map[string]struct {
		answer string
		source provider.WindowSource
	}{
		"entries":        {`{"data":[` + fill(`{"a":{}},`) + `{"id":"m","n":7}]}`, list},
		"numbers":        {`{"data":[` + fill(`0,`) + `{"id":"m","n":7}]}`, list},
		"a wide entry":   {`{"data":[{` + fill(`"a":{},`) + `"id":"m","n":7}]}`, list},
		"a deep one":     {`{"x":[` + fill(strings.Repeat(`[`, 100)+strings.Repeat(`]`, 100)+`,`) + `0],"data":[{"id":"m","n":7}]}`, list},
		"fields":         {`{` + fill(`"a":{},`) + `"n":7}`, one},
		"a field within": {`{"b":{"c":{` + fill(`"a":{},`) + `"n":7}}}`, one},
	} {
		t.Run(name, func(t *testing.T) {
			body := &weighed{Reader: strings.NewReader(test.answer)}
			var before runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			tokens, err := readTokens(t.Context(), body, test.source, "m")
			if err != nil || tokens != 7 || body.most > before.HeapAlloc+most {
				t.Errorf("%d tokens, error %v, %d bytes held beside %d", tokens, err, body.most-before.HeapAlloc, before.HeapAlloc)
			}
		})
	}
}
