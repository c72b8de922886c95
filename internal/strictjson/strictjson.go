// Package strictjson reads JSON that somebody has to be able to rely on: a name
// that is there twice is an error and not a matter of which one is taken, names
// are told apart by their case, and what is wrong is named with its line.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Object reads exactly one JSON object and gives its fields. The objects in it
// have no field twice either.
func Object(data []byte) (map[string]json.RawMessage, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("it is not valid UTF-8")
	}
	// Windows editors begin a file with it.
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, at(data, err)
	}
	if fields == nil {
		return nil, errors.New("it is null, not an object")
	}
	return fields, Unique(data)
}

// at puts the place of a mistake before it.
func at(data []byte, err error) error {
	var syntax *json.SyntaxError
	var form *json.UnmarshalTypeError
	switch {
	case errors.As(err, &form):
		return fmt.Errorf("it is a JSON %s, not an object", form.Value)
	case errors.As(err, &syntax):
		return placed(data, syntax.Offset, err)
	default:
		return err
	}
}

// placed puts the line and the column of the byte before an offset before an
// error.
func placed(data []byte, offset int64, err error) error {
	before := data[:min(max(int(offset), 0), len(data))]
	line := 1 + bytes.Count(before, []byte{'\n'})
	column := len(before) - (bytes.LastIndexByte(before, '\n') + 1)
	return fmt.Errorf("line %d, column %d: %w", line, max(column, 1), err)
}

// Unique tells of a field that is in one of the objects of a JSON value twice.
// The value is valid.
func Unique(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber() // of any size
	return unique(dec, data)
}

// unique reads one value.
func unique(dec *json.Decoder, data []byte) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	seen := make(map[string]bool)
	for dec.More() {
		if delim == '{' {
			token, err := dec.Token()
			if err != nil {
				return err
			}
			name, _ := token.(string)
			if seen[name] {
				return placed(data, dec.InputOffset(), fmt.Errorf("the field %.64q is there twice", name))
			}
			seen[name] = true
		}
		if err := unique(dec, data); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}
