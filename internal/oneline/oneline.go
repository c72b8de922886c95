// Package oneline puts errors together in one line of text.
package oneline

import "strings"

// Join makes one error of those that are not nil, as errors.Join does, with
// semicolons between their texts in the place of line ends. It is nil where all
// of them are, and a single one is returned as it is.
func Join(errs ...error) error {
	var list []error
	for _, err := range errs {
		if err != nil {
			list = append(list, err)
		}
	}
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	default:
		return &joined{list}
	}
}

type joined struct{ errs []error }

func (j *joined) Error() string {
	texts := make([]string, 0, len(j.errs))
	for _, err := range j.errs {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "; ")
}

// Unwrap lets errors.Is and errors.As see each.
func (j *joined) Unwrap() []error { return j.errs }
