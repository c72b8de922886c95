package tools

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

const (
	// maxJSON is how much of a file is read as JSON, in bytes.
	maxJSON = 32 << 20
	// maxParts is how many values and names may be in what is looked at of it:
	// each takes time, however short it is.
	maxParts = 100_000
)

// errLargeJSON says that JSON has too many parts, errFormJSON that a value is
// not of the kind that was to be there.
var (
	errLargeJSON = errors.New("the JSON has too many parts")
	errFormJSON  = errors.New("the JSON has another form")
)

// jsonParts reads JSON part by part, so that what an untrusted file holds is
// never in memory as many times its size. Where null stands for an object, an
// array or a text it is an empty one.
type jsonParts struct {
	ctx     context.Context // of the one call that reads
	decoder *json.Decoder
	raw     json.RawMessage // the last value that was passed over
	parts   int
}

func newJSONParts(ctx context.Context, r io.Reader) jsonParts {
	return jsonParts{ctx: ctx, decoder: json.NewDecoder(io.LimitReader(r, maxJSON))}
}

// count counts a part.
func (j *jsonParts) count() error {
	if j.parts++; j.parts > maxParts {
		return errLargeJSON
	}
	return j.ctx.Err()
}

func (j *jsonParts) token() (json.Token, error) {
	if err := j.count(); err != nil {
		return nil, err
	}
	return j.decoder.Token()
}

// pass passes over a value, and gives its size in bytes.
func (j *jsonParts) pass() (int64, error) {
	if err := j.count(); err != nil {
		return 0, err
	}
	err := j.decoder.Decode(&j.raw)
	return int64(len(j.raw)), err
}

// object reads an object: each is called with each name and reads its value.
func (j *jsonParts) object(each func(name string) error) error {
	return j.members('{', func() error {
		name, err := j.token()
		if err != nil {
			return err
		}
		text, _ := name.(string) // it is one: the decoder sees to it
		return each(text)
	})
}

// array reads an array: each is called to read each value.
func (j *jsonParts) array(each func() error) error { return j.members('[', each) }

func (j *jsonParts) members(open json.Delim, each func() error) error {
	begin, err := j.token()
	if err != nil || begin == nil {
		return err
	}
	if begin != open {
		return errFormJSON
	}
	for j.decoder.More() {
		if err := each(); err != nil {
			return err
		}
	}
	_, err = j.decoder.Token() // the end
	return err
}

// number reads a whole number, and gives another for null.
func (j *jsonParts) number(without int64) (int64, error) {
	value, err := j.token()
	if err != nil || value == nil {
		return without, err
	}
	number, is := value.(float64)
	if !is {
		return 0, errFormJSON
	}
	return int64(number), nil
}

// text reads a text that is written as one string, or as an array of them, with
// a separator between. It keeps so many bytes, and tells how many more it has.
func (j *jsonParts) text(separator string, most int) (text string, cut int64, err error) {
	value, err := j.token()
	if err != nil || value == nil {
		return "", 0, err
	}
	var b strings.Builder
	add := func(part string) {
		kept := min(len(part), most-b.Len())
		b.WriteString(part[:kept])
		cut += int64(len(part) - kept)
	}
	switch value := value.(type) {
	case string:
		add(value)
		return b.String(), cut, nil
	case json.Delim:
		if value != '[' {
			return "", 0, errFormJSON
		}
	default:
		return "", 0, errFormJSON
	}
	for first := true; j.decoder.More(); first = false {
		value, err := j.token()
		if err != nil {
			return "", 0, err
		}
		part, is := value.(string)
		if !is {
			return "", 0, errFormJSON
		}
		if !first {
			add(separator)
		}
		add(part)
	}
	_, err = j.decoder.Token() // the end
	return b.String(), cut, err
}
