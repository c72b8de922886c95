package oneline_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"testing"

	"github.com/belljar/belljar/internal/oneline"
)

func TestJoin(t *testing.T) {
	first, second := fmt.Errorf("reading: %w", io.EOF), fmt.Errorf("removing: %w", fs.ErrExist)
	for _, test := range []struct {
		name string
		errs []error
		text string // "" for no error
		want []error
	}{
		{"none", nil, "", nil},
		{"nil alone", []error{nil, nil}, "", nil},
		{"one", []error{nil, first}, "reading: EOF", []error{first, io.EOF}},
		{"two", []error{first, nil, second}, "reading: EOF; removing: file already exists", []error{first, io.EOF, second, fs.ErrExist}},
		{"joined again", []error{oneline.Join(first, second), second}, "reading: EOF; removing: file already exists; removing: file already exists", []error{io.EOF, fs.ErrExist}},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := oneline.Join(test.errs...)
			if (err != nil) != (test.text != "") || err != nil && err.Error() != test.text {
				t.Errorf("got %v, want %q", err, test.text)
			}
			for _, want := range test.want {
				if !errors.Is(err, want) {
					t.Errorf("%v is not %v", err, want)
				}
			}
		})
	}
}
