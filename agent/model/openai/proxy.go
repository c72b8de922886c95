package openai

import (
	"context"
	"net/http"
	"net/url"

	"github.com/belljar/belljar/agent/model"
)

// proxyRefusal names a proxy that does not let a request through. Without it
// the error is the bare text of the status, which looks like the server's own.
func proxyRefusal(_ context.Context, proxy *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode == http.StatusOK {
		return nil
	}
	kind, advice := model.Permanent, "; check HTTPS_PROXY and NO_PROXY"
	switch {
	case res.StatusCode == http.StatusProxyAuthRequired:
		advice = "; put its user name and password into HTTPS_PROXY"
	case res.StatusCode >= http.StatusInternalServerError, res.StatusCode == http.StatusTooManyRequests:
		kind = model.Transient
	}
	return model.Errorf(kind, "the proxy %s does not let the request through: %s%s", proxy.Host, oneLine(res.Status), advice)
}

// maxRedirects bounds how often a request is sent elsewhere.
const maxRedirects = 5

// followRedirect follows only redirects that leave the request what it is: by
// the others a question becomes a plain GET, and the answer to that says nothing
// of what is wrong. None leads to another origin: the task and the key are meant
// for the server that was named.
func followRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	elsewhere := req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host
	if req.Method != first.Method || elsewhere || len(via) > maxRedirects {
		return http.ErrUseLastResponse
	}
	return nil
}
