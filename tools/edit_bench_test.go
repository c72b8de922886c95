package tools_test

import (
	"fmt"
	"strings"
	"testing"
)

// lines are so many different lines of code.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "\tresult[%d] = compute(input, %d)\n", i, i*i)
	}
	return b.String()
}

// A call as a model makes it, with all that is written to disk.
func BenchmarkEditFile(b *testing.B) {
	for _, n := range []int{100, 30_000} {
		for name, edit := range map[string]string{"exact": "\tresult[%d] = %s", "tolerant": "    result[%d] = %s"} {
			b.Run(fmt.Sprintf("%s/%d lines", name, n), func(b *testing.B) {
				f := newFiles(b)
				f.put(b, "file", lines(n))
				f.call(b, "read_file", map[string]any{"path": "file"})
				texts := []string{fmt.Sprintf("compute(input, %d)", n*n/4), "changed(input)"}
				b.ReportAllocs()
				for b.Loop() {
					args := ed(fmt.Sprintf(edit, n/2, texts[0]), fmt.Sprintf(edit, n/2, texts[1]))
					args["path"] = "file"
					if got, isError := f.call(b, "edit_file", args); isError {
						b.Fatal(got)
					}
					texts[0], texts[1] = texts[1], texts[0]
				}
			})
		}
	}
}

// What a model hears when its text is not there.
func BenchmarkEditFileNotFound(b *testing.B) {
	f := newFiles(b)
	f.put(b, "file", lines(30_000))
	f.call(b, "read_file", map[string]any{"path": "file"})
	args := ed("\tresult[7] = computed(input, 48)\n\tresult[8] = compute(inputs, 64)\n", "x")
	args["path"] = "file"
	b.ReportAllocs()
	for b.Loop() {
		if got, isError := f.call(b, "edit_file", args); !isError {
			b.Fatal(got)
		}
	}
}
