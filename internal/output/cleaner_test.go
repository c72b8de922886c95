package output_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/belljar/belljar/internal/output"
)

// In pieces the text is the same as at once.
func TestCleaner(t *testing.T) {
	for _, text := range []string{
		"", "no end", "a\nb\n", "10%\r20%\r100%\nnext\x1b[31mred\x1b[0m\x00", "\xff中\xe4\xb8", "x\r\ny\r\n",
	} {
		for size := 1; size <= len(text)+1; size++ {
			var got bytes.Buffer
			c := output.NewCleaner(&got)
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				if _, err := c.Write([]byte(rest[:n])); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if err := c.Flush(); err != nil {
				t.Fatal(err)
			}
			if want := output.Clean([]byte(text)); got.String() != want {
				t.Errorf("%q in pieces of %d: %q, want %q", text, size, got.String(), want)
			}
		}
	}
}

// A line without an end does not fill the memory.
func TestCleanerPassesLongLines(t *testing.T) {
	var got bytes.Buffer
	c := output.NewCleaner(&got)
	if _, err := c.Write([]byte(strings.Repeat("x", 1<<20))); err != nil || got.Len() != 1<<20 {
		t.Errorf("%d bytes passed on, %v", got.Len(), err)
	}
}

func TestCleanerFails(t *testing.T) {
	c := output.NewCleaner(failing{})
	if _, err := c.Write([]byte("x\n")); err == nil {
		t.Error("the error is lost")
	}
	if err := c.Flush(); err == nil {
		t.Error("the error is forgotten")
	}
}
