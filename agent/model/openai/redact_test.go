package openai

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent/model"
	"github.com/google/go-cmp/cmp"
)

// TestKeyInAnySpelling: a key of the address is not told, however the server
// writes it.
func TestKeyInAnySpelling(t *testing.T) {
	const secret = "abcd/efgh 12345+ü=="
	twice := url.QueryEscape(url.QueryEscape(secret))
	for name, spelled := range map[string]string{
		"as it is":           secret,
		"query":              url.QueryEscape(secret),
		"path":               url.PathEscape(secret),
		"small letters":      strings.ToLower(url.QueryEscape(secret)),
		"an inner address":   twice,
		"and one more":       url.QueryEscape(twice),
		"JSON":               `abcd\/efgh 12345\u002b\u00fc\u003D=`,
		"only in part":       "abcd%2Fefgh%2012345+ü%3d=",
		"cut off by a bound": strings.Repeat("x", 990) + secret,
	} {
		for place, send := range map[string]func(w http.ResponseWriter){
			"location": func(w http.ResponseWriter) {
				w.Header().Set("Location", "https://else.example/"+spelled+"?code="+spelled)
				w.WriteHeader(http.StatusFound)
			},
			"refusal": func(w http.ResponseWriter) {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, `{"error":{"message":"wrong: `+spelled+`"}}`)
			},
			"raw refusal": func(w http.ResponseWriter) {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, `{"wrong":"`+spelled+`"}`)
			},
			"in the answer": func(w http.ResponseWriter) {
				_, _ = io.WriteString(w, `{"error":{"message":"wrong: `+spelled+`"}}`)
			},
			"event": func(w http.ResponseWriter) {
				_, _ = io.WriteString(w, "event: error\ndata: {\"message\":\"wrong: "+spelled+"\"}\n\n")
			},
		} {
			t.Run(name+", "+place, func(t *testing.T) {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { send(w) }))
				defer server.Close()
				c, err := New(Options{Model: "m", BaseURL: server.URL + "/v1?code=" + url.QueryEscape(secret)})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				_, err = c.Generate(t.Context(), model.Request{}, nil)
				if err == nil || strings.Contains(err.Error(), "abcd") || strings.Contains(err.Error(), "12345") {
					t.Errorf("error %v, want one without the key", err)
				}
			})
		}
	}
}

// TestRedactorLeavesOthers: what is no secret stays.
func TestRedactorLeavesOthers(t *testing.T) {
	const text = "abcd/efgX sk-canary version=2024-10-21 1"
	for name, redact := range map[string]func(string) string{
		"none":      redactor(""),
		"another":   redactor("abcd/efgh", "1"),
		"a version": redactor(spelled(suspects("https://h/v1?api-version=2024-10-21&v=1"))...),
	} {
		if got := redact(text); got != text {
			t.Errorf("%s: %q, want %q", name, got, text)
		}
	}
}

// TestSuspects: what may be a key is found in any address, a broken one
// included, and what is none is not.
func TestSuspects(t *testing.T) {
	for address, want := range map[string][]string{
		"":                      nil,
		"https://host/v1":       nil,
		"https://host/v1?":      nil,
		"https://host/v1@x":     nil,
		"https://host/v1#a?b=c": nil,
		"https://host/v1?api-version=2024-10-21&Version=2&api_version=3": nil,
		"https://host/v1?conversion=one&key_version=two":                 {"one", "two"},
		"https://host/v1?api-key=one&code=two#three":                     {"one", "two"},
		"https://host/v1?api-key=a%2Bb+c":                                {"a%2Bb+c", "a+b c"},
		"https://host/v1?api-key=a%zz":                                   {"a%zz"},
		"https://host/v1?bare-key":                                       {"bare-key"},
		"https://host/v1?a=b=c":                                          {"b=c"},
		"https://user:pass@host/v1":                                      {"pass"},
		"https://user:p%40ss@host/v1":                                    {"p%40ss", "p@ss"},
		"https://user:p@ss@host":                                         {"p@ss"},
		"https://only-a-key@host/v1":                                     {"only-a-key"},
		"https://a key@host /v1?x=y z":                                   {"a key", "y z"},
		"host/v1?key=value":                                              {"value"},
	} {
		if diff := cmp.Diff(want, spelled(suspects(address))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", address, diff)
		}
	}
}

// TestAddressKeys: a key is known by its name or its look, and a word is none.
func TestAddressKeys(t *testing.T) {
	isSecret := func(name string) bool { return name == "code" }
	for address, want := range map[string][]string{
		"https://host/v1?tenant=workspace":                          nil,
		"https://host/v1?region=us-east-1&preview=2024-10-21":       nil,
		"https://host/v1?stream_timeout_seconds":                    nil,
		"https://host/v1?deployment=production&n=12345678901234567": nil,
		"https://host/v1?code=workspace":                            {"workspace"},
		"https://host/v1?=workspace":                                {"workspace"},
		"https://host/v1?conversion=sk-0123456789abc%2B":            {"sk-0123456789abc%2B", "sk-0123456789abc+"},
		"https://host/v1?sk-0123456789abcdef":                       {"sk-0123456789abcdef"},
		"https://host/v1?api-version=2024-10-21-preview":            nil,
		"https://user:workspace@host/v1":                            {"workspace"},
		"https://workspace@host/v1":                                 {"workspace"},
	} {
		if diff := cmp.Diff(want, AddressKeys(address, isSecret)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", address, diff)
		}
	}
}

// TestOptionsTellNoKey: no print of the options holds a key, wherever it is.
func TestOptionsTellNoKey(t *testing.T) {
	const key = "sk-canary"
	for _, o := range []Options{
		{Model: "m", APIKey: key},
		{Model: "m", BaseURL: "https://host/v1?code=" + key},
		{Model: "m", BaseURL: "https://host/v1?" + key + "#" + key},
		{Model: "m", BaseURL: "https://" + key + "@host/v1"},
		{Model: "m", BaseURL: "https://user:" + key + "@host/v1"},
		{Model: "m", BaseURL: "https://host:" + key + "/v1"},
	} {
		if said := fmt.Sprintf("%v %+v %#v %s", o, o, o, o); strings.Contains(said, key) {
			t.Errorf("the options print as %s", said)
		}
	}
}
