package openai

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// maxNested bounds how deep a detail is looked for inside others.
const maxNested = 8

// A detail is what a server says about a failure, from any of the shapes in
// use.
type detail struct {
	message, kind, code, param string
	// status is the HTTP status that it names; 0 is none.
	status int
	// written is what the model wrote, where the server could not read a call.
	written string
	// source is what the one behind a router answered, as it came, and headers
	// what of its headers the router tells.
	source  string
	headers http.Header
}

// readDetail finds the detail in a JSON body or error object; a body of
// another kind is the message itself, unless it is a web page.
func readDetail(body []byte) detail { return nestedDetail(body, maxNested) }

func nestedDetail(body []byte, depth int) detail {
	var fields map[string]json.RawMessage
	var list []json.RawMessage
	switch {
	case json.Unmarshal(body, &fields) == nil && fields != nil:
		return fieldsDetail(body, fields, depth)
	case depth > 0 && json.Unmarshal(body, &list) == nil && len(list) > 0:
		return nestedDetail(list[0], depth-1) // Google sends a list of one
	}
	text := strings.TrimSpace(scalar(body))
	if strings.HasPrefix(text, "<") {
		return detail{}
	}
	return detail{message: text}
}

// fieldsDetail reads an object. What is said outside of an error stands in for
// what is missing inside.
func fieldsDetail(body []byte, fields map[string]json.RawMessage, depth int) detail {
	d := detail{
		message: cmp.Or(scalar(fields["message"]), scalar(fields["detail"])),
		kind:    cmp.Or(scalar(fields["type"]), name(fields["status"])),
		code:    scalar(fields["code"]), param: scalar(fields["param"]),
		status: firstStatus(fields["code"], fields["status_code"], fields["status"]), written: scalar(fields["failed_generation"]),
	}
	if inner := fields["error"]; depth > 0 && holdsDetail(inner) {
		in := nestedDetail(inner, depth-1)
		in.kind, in.code, in.param = cmp.Or(in.kind, d.kind), cmp.Or(in.code, d.code), cmp.Or(in.param, d.param)
		in.status, in.written = cmp.Or(in.status, d.status), cmp.Or(in.written, d.written)
		return in
	}
	d.message = cmp.Or(d.message, string(body))
	if depth > 0 {
		d.addSource(fields["metadata"], depth)
	}
	return d
}

// addSource adds what the one behind a router said: OpenRouter's own message is
// "Provider returned error" and nothing else.
func (d *detail) addSource(metadata json.RawMessage, depth int) {
	var m struct {
		Raw      json.RawMessage   `json:"raw"`
		Provider json.RawMessage   `json:"provider_name"`
		Headers  map[string]string `json:"headers"`
	}
	if !isSet(metadata) {
		return
	}
	_ = json.Unmarshal(metadata, &m) // what could be read of it counts
	d.headers = http.Header{}
	for name, value := range m.Headers {
		d.headers.Set(name, value)
	}
	d.source = scalar(m.Raw)
	from := nestedDetail([]byte(d.source), depth-1)
	if from.message == "" {
		return
	}
	if who := scalar(m.Provider); who != "" {
		d.message += " (" + who + ")"
	}
	d.message += ": " + from.message
	d.kind, d.code, d.param = cmp.Or(from.kind, d.kind), cmp.Or(from.code, d.code), cmp.Or(from.param, d.param)
	d.status, d.written = cmp.Or(d.status, from.status), cmp.Or(from.written, d.written)
}

// holdsDetail tells an error that says something; some servers set it to true
// beside their words.
func holdsDetail(value json.RawMessage) bool {
	return isSet(value) && strings.ContainsRune(`{["`, rune(value[0])) && string(value) != `""`
}

// firstStatus is the first of the values that is the HTTP status of a failure.
func firstStatus(values ...json.RawMessage) int {
	for _, value := range values {
		if n, err := strconv.Atoi(scalar(value)); err == nil && n >= 400 && n <= 599 {
			return n
		}
	}
	return 0
}

// name is a text that is no number.
func name(value json.RawMessage) string {
	text := scalar(value)
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return ""
	}
	return text
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
		if more != "" && more != strconv.Itoa(d.status) && !strings.Contains(message, more) {
			message += " (" + more + ")"
		}
	}
	return message
}

// words are all that is said, in lower case.
func (d detail) words() string { return strings.ToLower(d.message + " " + d.kind + " " + d.code) }
