package trajectory_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent/trajectory"
)

// However a text is cut, it is masked as a whole would be.
func TestMaskWriter(t *testing.T) {
	const short, long = "secret-1", "secret-1-and-more"
	masker := trajectory.NewMasker(short, long, "line one\nline two")
	for _, text := range []string{
		"", "plain", "secret", short, long, short + long + short, "a" + long[:12] + "b", "x" + short + "-and-mor" + short,
		"secret-secret-1", "line one\nline two", "line one\nline three", strings.Repeat("no "+long+" yes ", 50),
		"JSON line one\\nline two",
	} {
		for size := 1; size <= len(text)+1; size++ {
			var got strings.Builder
			w := masker.Writer(&got)
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				if _, err := w.Write([]byte(rest[:n])); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if want := masker.Mask(text); got.String() != want {
				t.Fatalf("%.60q in pieces of %d: %.200q, want %.200q", text, size, got.String(), want)
			}
		}
	}
}

func TestMaskWriterWithoutSecrets(t *testing.T) {
	var got strings.Builder
	if _, err := trajectory.NewMasker().Writer(&got).Write([]byte("all at once")); err != nil || got.String() != "all at once" {
		t.Errorf("%q, %v", got.String(), err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestMaskWriterFails(t *testing.T) {
	if _, err := trajectory.NewMasker().Writer(full{}).Write([]byte("x")); err == nil {
		t.Error("the error is lost")
	}
}
