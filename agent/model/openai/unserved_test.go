package openai_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent/model"
)

// TestNobodyOffersIt: a router that has nobody for a model says so with the
// status of a model that does not exist; the error tells what it really is, by
// status and in a stream, and nothing is tried again.
func TestNobodyOffersIt(t *testing.T) {
	tests := map[string]struct{ said, advice string }{
		"tools": {"No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing",
			"takes tools"},
		"tools, with a name": {`No endpoints found that support tool use. Try disabling "read_image".`, "takes tools"},
		"images":             {"No endpoints found that support image input", "leave --images away"},
		"data policy": {"No endpoints found matching your data policy (Free model publication). Configure: https://openrouter.ai/settings/privacy",
			"your settings"},
		"guardrail":       {"No endpoints available matching your guardrail restrictions and data policy.", "your settings"},
		"allowed":         {"No allowed providers are available for the selected model.", "your settings"},
		"options":         {"No endpoints found that can handle the requested parameters.", "does what is asked for"},
		"something else":  {"No endpoints found that support the provided 'tool_choice' value.", "does what is asked for"},
		"a long name":     {"No endpoints found for nobody/such-model. Is it gone?", "check the name"},
		"a name of sight": {"No endpoints found for nobody/no-vision-support", "check the name"},
		"name":            {"No endpoints found for nobody/such-model.", "check the name"},
		"a name of tools": {"No endpoints found for nobody/tool-model.", "check the name"},
	}
	for name, test := range tests {
		for way, answer := range map[string]http.HandlerFunc{
			"by status": func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusNotFound)
				fmt.Fprintf(w, `{"error":{"message":%q,"code":404}}`, test.said)
			},
			"in the stream": func(w http.ResponseWriter, _ *http.Request) {
				bytewise(w, fmt.Sprintf("data: {\"error\":{\"message\":%q,\"code\":404}}\n\n", test.said))
			},
		} {
			t.Run(name+", "+way, func(t *testing.T) {
				requests := 0
				c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
					requests++
					_, _ = io.Copy(io.Discard, r.Body)
					answer(w, r)
				}, by(t, "openrouter"))
				_, err := model.WithRetry(c, model.RetryPolicy{}).Generate(t.Context(), hello, nil)
				if err == nil || requests != 1 || model.KindOf(err) != model.BadRequest {
					t.Fatalf("error %v of kind %q after %d requests", err, model.KindOf(err), requests)
				}
				if said := err.Error(); !strings.Contains(said, test.said) || !strings.Contains(said, test.advice) || strings.Contains(said, "base url") {
					t.Errorf("error %q, want %q in it", said, test.advice)
				}
			})
		}
	}
}

// TestNoEndpointsOfIngress: what stands before a server says in the same words
// that the server is not there, and then the address may be wrong.
func TestNoEndpointsOfIngress(t *testing.T) {
	for _, said := range []string{"no endpoints available for service \"tool-call-proxy\"", "Service has no endpoints", "no endpoints found"} {
		c := newClient(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, said)
		})
		if _, err := c.Generate(t.Context(), hello, nil); err == nil || !strings.Contains(err.Error(), "the base url") {
			t.Errorf("%q: error %v, want one that names the address", said, err)
		}
	}
}
