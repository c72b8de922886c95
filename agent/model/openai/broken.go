package openai

import (
	"bytes"
	"encoding/json"
	"strings"
)

// broken is what an event says of why the server breaks off the answer, in any
// of the places in use; nil is nothing. Beside these words a reason counts for
// nothing: servers send one, and the end marker, all the same.
func (c *chunk) broken(e event) json.RawMessage {
	places := []json.RawMessage{c.Error, c.Groq.Error}
	for _, choice := range c.Choices {
		places = append(places, choice.Error)
	}
	for _, said := range places {
		if says(said) {
			return said
		}
	}
	switch {
	case len(c.Choices) > 0:
		return nil
	case e.name == "error", c.Object == "error", c.Object == "" && c.Usage == nil && isComplaint(e.data):
		return e.data
	default:
		return nil
	}
}

// isComplaint tells an error object that is not in a field of its own: a text
// beside a code that does not mean success.
func isComplaint(data json.RawMessage) bool {
	fields := object(data)
	if base := object(fields["base_resp"]); says(base["status_code"]) { // MiniMax
		return true
	}
	said := ""
	for _, name := range []string{"message", "msg", "error_msg", "errorMessage", "detail"} {
		if value := fields[name]; says(value) && value[0] == '"' {
			said = scalar(value)
		}
	}
	for _, name := range []string{"code", "error_code", "status"} {
		switch strings.ToLower(scalar(fields[name])) {
		case "0", "200", "ok", "success":
			return false
		}
	}
	return said != ""
}

// inList is the first of a list, which Google puts its errors into, or the data
// itself.
func inList(data []byte) []byte {
	var list []json.RawMessage
	if !isList(bytes.TrimSpace(data)) || json.Unmarshal(data, &list) != nil || len(list) == 0 {
		return data
	}
	return list[0]
}
