package openai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/openai"
	"github.com/belljar/belljar/agent/model/provider"
)

// TestDoubtfulEnds: an end that a server which lost its model has too is
// believed when it is the server's habit, of one that may have it, and never
// inside a call.
func TestDoubtfulEnds(t *testing.T) {
	const early = `{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`
	text, sure := events(content("a")), events(content("a"), finish("stop"))
	whole := events(calls(`{"index":0,"id":"x","function":{"name":"read","arguments":"{}"}}`))
	blank := events(calls(`{"index":0,"id":"x","function":{"name":"read","arguments":""}}`))
	blankBeside := stream(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"read","arguments":""}}]},"finish_reason":"stop"}]}`)
	tests := map[string]struct {
		provider string
		streams  []string
		cut      string // which of them are not believed
	}{
		"no reason":                     {"generic", []string{text, text, text}, "cut ok ok"},
		"no reason, a call":             {"generic", []string{whole, whole}, "cut ok"},
		"no reason, a call, then text":  {"generic", []string{whole, text}, "cut ok"},
		"no reason, no arguments":       {"generic", []string{blank, blank, blank}, "cut cut cut"},
		"a reason beside a name":        {"generic", []string{blankBeside, blankBeside}, "cut cut"},
		"no reason once":                {"generic", []string{text, sure, text, sure}, "cut ok cut ok"},
		"no reason from who gives one":  {"openai", []string{text, text, text}, "cut cut cut"},
		"reasons in the middle":         {"openai", []string{stream(early, early), stream(early, early)}, "cut ok"},
		"reasons in the middle, marked": {"openai", []string{events(early, early)}, "ok"},
		"a reason beside the last":      {"openai", []string{stream(content("a"), early)}, "ok"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			profile, err := provider.Named(test.provider)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			c := newClient(t, func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, test.streams[n])
				n++
			}, func(o *openai.Options) { o.Provider = profile })
			var got []string
			for range test.streams {
				switch _, err := c.Generate(t.Context(), hello, nil); {
				case err == nil:
					got = append(got, "ok")
				default:
					got = append(got, string(model.KindOf(err)))
				}
			}
			if got := strings.Join(got, " "); got != test.cut {
				t.Errorf("%s, want %s", got, test.cut)
			}
		})
	}
}

// TestIdleOfAProvider: how long a server may be silent is its profile's to say,
// and the caller's first of all.
func TestIdleOfAProvider(t *testing.T) {
	for _, test := range []struct {
		provider string
		set      time.Duration
		begins   bool // something comes before the silence
		want     time.Duration
	}{
		{"openai", 0, true, 3 * time.Minute},
		{"ollama", 0, true, 10 * time.Minute},
		{"openai", time.Hour, true, time.Hour},
		{"ollama", time.Minute, true, time.Minute},
		{"openai", 0, false, 10 * time.Minute},
		{"openai", time.Hour, false, time.Hour},
		{"ollama", time.Minute, false, 10 * time.Minute},
	} {
		t.Run(fmt.Sprintf("%s %s %t", test.provider, test.set, test.begins), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				profile, err := provider.Named(test.provider)
				if err != nil {
					t.Fatal(err)
				}
				silent := func(ctx context.Context, w *io.PipeWriter) {
					if test.begins {
						_, _ = io.WriteString(w, stream(content("a")))
					}
					<-ctx.Done()
				}
				c, err := openai.New(openai.Options{
					Model: "m", BaseURL: "http://h/v1", Provider: profile, IdleTimeout: test.set,
					HTTPClient: &http.Client{Transport: piped(silent)},
				})
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				_, err = c.Generate(t.Context(), hello, nil)
				if took := time.Since(start); model.KindOf(err) != model.Stalled || took != test.want {
					t.Errorf("error %v after %s, want a stall after %s", err, took, test.want)
				}
			})
		})
	}
}
