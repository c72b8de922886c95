package ui_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/ui"
)

func TestTable(t *testing.T) {
	rows := [][]string{
		{"ID", "TASK"},
		{"中文", "a\nb \x1b[31mc"},
		{"longer", "a task that is longer than the line"},
		{"x", ""},
	}
	for _, test := range []struct {
		name  string
		width int
		want  string
	}{
		{"unbounded", 0, "ID      TASK\n中文    a b c\nlonger  a task that is longer than the line\nx\n"},
		{"clipped", 16, "ID      TASK\n中文    a b c\nlonger  a task …\nx\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := ui.Table(&out, test.width, rows); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
