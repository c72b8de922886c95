package openai

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// mostCount bounds the numbers that are read: what is larger counts nothing.
const mostCount = 1 << 40

// number reads a whole number that some servers write as 12.0 or as "12".
// Anything else is none: an answer is not spoiled by what can be done without.
func number(raw json.RawMessage) (n int, ok bool) {
	f, err := strconv.ParseFloat(strings.Trim(string(raw), "\" "), 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > mostCount {
		return 0, false
	}
	return int(f), true
}

// object reads a JSON object; anything else is an empty one.
func object(raw json.RawMessage) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	return fields
}

// word is a string, or a number that stands for one. Anything else is "".
type word string

func (w *word) UnmarshalJSON(data []byte) error {
	*w = ""
	if says(data) && data[0] != '{' && data[0] != '[' && data[0] != 't' {
		*w = word(scalar(data))
	}
	return nil
}

// says reports whether a JSON value holds anything: a text, a number other than
// nought, or true, however deep. Some servers write all their fields into every
// event, an error without a word among them.
func says(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", `""`, "[]", "{}", "false", "0":
		return false
	}
	var value any
	return json.Unmarshal(raw, &value) != nil || holds(value)
}

func holds(value any) bool {
	switch v := value.(type) {
	case string:
		return v != ""
	case float64:
		return v != 0
	case bool:
		return v
	case []any:
		for _, inner := range v {
			if holds(inner) {
				return true
			}
		}
	case map[string]any:
		for _, inner := range v {
			if holds(inner) {
				return true
			}
		}
	}
	return false
}
