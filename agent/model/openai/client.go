// Package openai asks any server that speaks the OpenAI chat completions
// protocol. The SDK builds and sends the requests; the stream that comes back
// is read here, because servers that call themselves compatible differ in it
// in more ways than the SDK puts up with, and a tool call that is put together
// wrongly runs the wrong thing.
//
// Nothing is read from the environment. The key is only ever put into the
// request's header: no error and no log holds it.
package openai

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/provider"
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// DefaultBaseURL is OpenAI's own server.
const DefaultBaseURL = "https://api.openai.com/v1"

// Options say which server and model to ask. The zero value of a field is its
// default.
type Options struct {
	// BaseURL is the server's address up to and without "/chat/completions".
	// Its query is sent with every request.
	BaseURL string
	// APIKey is sent as a bearer token; "" sends none, as local servers like.
	APIKey string `json:"-"`
	// Model is the model's name for the server. Required.
	Model string
	// Provider is the profile that requests are written by; the zero value is
	// the one of BaseURL.
	Provider provider.Profile
	// HTTPClient sends the requests. The default has no time limit of its own.
	// Without a CheckRedirect it follows only those within the server that keep
	// the request what it is.
	HTTPClient *http.Client
	// ConnectTimeout bounds the wait for a connection, with all that belongs to
	// it: names, addresses, TLS; the default is 30 s.
	ConnectTimeout time.Duration
	// FirstTimeout bounds the wait from the connection to the first piece of an
	// answer; the default is 10 minutes, since servers read the whole prompt
	// first and some models think before they say anything, or IdleTimeout where
	// that is more.
	FirstTimeout time.Duration
	// IdleTimeout bounds the wait for each further piece; the default is the
	// profile's, or 3 minutes. A piece is text, reasoning, a part of a call or anything else of
	// the answer that is new. Comments, counts and empty events, which only keep the connection
	// alive, lengthen neither wait: a server whose model hangs sends them for
	// ever. They do tell a server that hangs from a connection that is dead.
	IdleTimeout time.Duration
}

// String tells the options without the key, and the address without what may
// hold another.
func (o Options) String() string {
	u, err := url.Parse(o.BaseURL)
	if err != nil {
		return o.Model + " at an address that is none"
	}
	u.User, u.RawQuery, u.Fragment, u.RawFragment, u.ForceQuery = nil, "", "", "", false
	return fmt.Sprintf("%s at %s", o.Model, u)
}

// GoString tells the options without the key.
func (o Options) GoString() string { return o.String() }

// A Client is a model.Model. It learns what its server does not take and
// leaves that out from then on. Safe for concurrent use.
type Client struct {
	model       string
	host        string // scheme, host and path of the server, for messages
	base        *url.URL
	query       func() url.Values // of the address; a copy
	sign        func(http.Header) // adds the key, which no print of a Client has then
	windows     []provider.WindowSource
	completions sdk.ChatCompletionService
	http        *http.Client
	ownHTTP     bool
	connect     time.Duration
	first, idle time.Duration
	redact      func(string) string
	noReason    bool // see provider.Profile

	mu      sync.Mutex
	dialect dialect
	doubted bool // the end of the last answer left a doubt; see trust
}

var _ model.Model = (*Client)(nil)

// New returns a Client. It does not contact the server.
func New(o Options) (*Client, error) {
	if o.Model == "" {
		return nil, errors.New("no model is named; use --model or BELLJAR_MODEL")
	}
	base, query, err := parseBase(cmp.Or(o.BaseURL, DefaultBaseURL))
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(o.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the api key holds a space, a line end or another character that no key has; check how it was copied")
	}
	profile := o.Provider
	if profile.Name == "" {
		profile = provider.At(base.String())
	}
	c := &Client{
		dialect: dialect{Rules: profile.Rules},
		model:   o.Model, host: base.String(), base: base, windows: profile.Sources,
		query: func() url.Values { return maps.Clone(query) }, sign: func(http.Header) {},
		http: o.HTTPClient, ownHTTP: o.HTTPClient == nil,
		connect: cmp.Or(o.ConnectTimeout, 30*time.Second),
		first:   cmp.Or(o.FirstTimeout, max(10*time.Minute, o.IdleTimeout)), idle: cmp.Or(o.IdleTimeout, profile.Idle, 3*time.Minute),
		redact:   redactor(append(spelled(suspects(o.BaseURL)), o.APIKey)...),
		noReason: profile.NoReason,
	}
	if c.ownHTTP {
		c.http = newHTTPClient(c.connect)
		// Its own limits tell what did not answer, so they come first; the watch
		// is there for what they leave out.
		c.connect += time.Second
	} else if c.http.CheckRedirect == nil {
		same := *c.http
		same.CheckRedirect = followRedirect
		c.http = &same
	}
	options := []option.RequestOption{
		option.WithBaseURL(base.String()), option.WithHTTPClient(c.http),
		option.WithMaxRetries(0), // model.WithRetry does it, where the user can see it
		option.WithHeader("Accept", "text/event-stream"),
		option.WithMiddleware(c.refusal),
	}
	if o.APIKey != "" {
		name, value := keyHeader(profile, o.APIKey)
		options = append(options, option.WithHeader(name, value))
		c.sign = func(h http.Header) { h.Set(name, value) }
	}
	for name, values := range query {
		for _, value := range values {
			options = append(options, option.WithQueryAdd(name, value))
		}
	}
	// The service alone, not the SDK's client: the client fills itself from
	// OPENAI_* variables.
	c.completions = sdk.NewChatCompletionService(options...)
	return c, nil
}

// keyHeader is the header that a key is sent in.
func keyHeader(profile provider.Profile, key string) (name, value string) {
	if profile.KeyHeader != "" {
		return profile.KeyHeader, key
	}
	return "Authorization", "Bearer " + key
}

// Name is the model's name.
func (c *Client) Name() string { return c.model }

// Close closes connections that are kept for further requests, unless the HTTP
// client is the caller's.
func (c *Client) Close() error {
	if c.ownHTTP {
		c.http.CloseIdleConnections()
	}
	return nil
}

// parseBase checks a base URL and takes its query off.
func parseBase(raw string) (*url.URL, url.Values, error) {
	u, err := url.Parse(raw)
	if err != nil {
		// The parser's own message repeats the address, which may hold a key.
		return nil, nil, errors.New("the base url is not a url; write it like https://host/v1")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, nil, errors.New("the base url has no http:// or https:// or no host; write it like https://host/v1")
	case u.User != nil:
		return nil, nil, errors.New("the base url holds a user name or password; give the key as OPENAI_API_KEY instead")
	}
	query := u.Query()
	u.RawQuery, u.Fragment, u.RawFragment, u.ForceQuery = "", "", "", false
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions")
	return u, query, nil
}

// newHTTPClient is like the standard one, less what would cut a long answer.
func newHTTPClient(connect time.Duration) *http.Client {
	return &http.Client{CheckRedirect: followRedirect, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		// The bound is shared out among the addresses of a host, so that a dead
		// one leaves time for the next.
		DialContext:         (&net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: connect,
		ForceAttemptHTTP2:   true,
		IdleConnTimeout:     90 * time.Second,
		MaxIdleConns:        16,

		OnProxyConnectResponse: proxyRefusal,
	}}
}
