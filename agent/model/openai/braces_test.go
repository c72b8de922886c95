package openai

import "testing"

func TestBraces(t *testing.T) {
	for text, closed := range map[string]bool{
		"":                       false,
		`{`:                      false,
		`{}`:                     true,
		" {\n}\n":                true,
		`{"a":{"b":[{}]}}`:       true,
		`{"a":{"b":[{}]}`:        false,
		`{"a":"}`:                false,
		`{"a":"\"}`:              false,
		`{"a":"\\"}`:             true,
		`{"a":"{\"x\": \"}\"}"}`: true,
		`{}{}`:                   false,
		`{} x`:                   false,
		`"{}"`:                   false,
		`}{`:                     false,
		`{"p":"x\u007d` + "\xff": false,
	} {
		var whole, pieces braces
		whole.add(text)
		for i := range len(text) {
			pieces.add(text[i : i+1])
		}
		if whole.closed != closed || pieces != whole {
			t.Errorf("%q: at once %+v, byte by byte %+v; want closed %t", text, whole, pieces, closed)
		}
	}
}
