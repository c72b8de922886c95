package docker

import (
	"fmt"
	"testing"
)

func TestAddLine(t *testing.T) {
	line := func(name string) string { return fmt.Sprintf("%s:x:1001:1001::/home:/bin/sh", name) }
	tests := []struct{ name, file, want string }{
		{"empty", "", "belljar:x:1001:1001::/home:/bin/sh\n"},
		{"no final newline", "root:x:0:0::/root:/bin/sh", "root:x:0:0::/root:/bin/sh\nbelljar:x:1001:1001::/home:/bin/sh\n"},
		{"the number is there", "me:x:1001:5::/me:/bin/sh\n", "me:x:1001:5::/me:/bin/sh\n"},
		{"the name is taken", "belljar:x:5:5::/:/bin/sh\n", "belljar:x:5:5::/:/bin/sh\nbelljar_:x:1001:1001::/home:/bin/sh\n"},
		{"short lines", "x\n\n", "x\n\nbelljar:x:1001:1001::/home:/bin/sh\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := string(addLine([]byte(test.file), 2, 1001, line)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
