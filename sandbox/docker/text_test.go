package docker

import (
	"errors"
	"fmt"
	"testing"

	"github.com/containerd/errdefs"
)

func TestIsNotFound(t *testing.T) {
	for _, test := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("it is busy"), false},
		{fmt.Errorf("looking: %w", errdefs.ErrNotFound), true},
		{errors.New("Error response from daemon: container 8b6c does not exist in database: no such container"), true},
	} {
		if got := isNotFound(test.err); got != test.want {
			t.Errorf("isNotFound(%v) = %v", test.err, got)
		}
	}
}
