package tools_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A codeLine is a line of a program: its depth, what it says, and what stands
// behind that and is easily missed.
type codeLine struct {
	depth       int
	text, blank string
}

// code writes lines with an indentation, the first of which is at a depth of
// its own. exact says that white space at the ends is as in the file.
func code(lines []codeLine, step string, less int, exact bool) string {
	var b strings.Builder
	for _, l := range lines {
		if l.text == "" && !exact {
			b.WriteByte('\n')
			continue
		}
		b.WriteString(strings.Repeat(step, l.depth-less) + l.text)
		if exact {
			b.WriteString(l.blank)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// program is a random program, in which no line is like another.
func program(r *rand.Rand) []codeLine {
	var lines []codeLine
	depth := 0
	for i := range 20 + r.IntN(20) {
		l := codeLine{depth: depth, text: fmt.Sprintf("say(“line %d”) – x", i), blank: []string{"", "", " ", "\t"}[r.IntN(4)]}
		switch {
		case r.IntN(8) == 0:
			l.text = ""
		case r.IntN(3) == 0 && depth < 5:
			depth++
		case r.IntN(3) == 0 && depth > 0:
			depth--
		}
		lines = append(lines, l)
	}
	return lines
}

// Blocks of random programs, written in another indentation and with plain
// quotes, are found; what is new is indented as the file is, and every line
// that is not changed stays as it was.
func TestTolerantEditsFollowTheFile(t *testing.T) {
	steps := []string{"\t", "  ", "    "}
	f := newFiles(t)
	plain := strings.NewReplacer("“", `"`, "”", `"`, "–", "-")
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		file, mine := steps[r.IntN(3)], steps[r.IntN(3)]
		lines := program(r)
		from := r.IntN(len(lines) - 3)
		block := lines[from : from+3+r.IntN(min(8, len(lines)-from-3)+1)]
		flat := !slices.ContainsFunc(lines, func(l codeLine) bool { return l.text != "" && l.depth > 0 })
		if flat || block[0].text == "" || block[len(block)-1].text == "" {
			continue
		}
		less := 99
		for _, l := range block {
			if l.text != "" {
				less = min(less, l.depth)
			}
		}
		if r.IntN(2) == 0 {
			less = 0
		}
		// One line is changed at its end, and two come behind it.
		k := r.IntN(len(block))
		for block[k].text == "" {
			k--
		}
		old := code(block, mine, less, false)
		changed := append([]codeLine{}, block...)
		changed[k] = codeLine{block[k].depth, block[k].text + " + y", ""}
		added := []codeLine{{block[k].depth, "new()", ""}, {block[k].depth + 1, "deeper()", ""}}
		changed = append(changed[:k+1], append(added, changed[k+1:]...)...)
		after := append(append(append([]codeLine{}, lines[:from]...), changed...), lines[from+len(block):]...)

		name := fmt.Sprint(seed)
		f.put(t, name, code(lines, file, 0, true))
		f.call(t, "read_file", map[string]any{"path": name})
		args := ed(plain.Replace(old), plain.Replace(code(changed, mine, less, false)))
		args["path"] = name
		got, isError := f.call(t, "edit_file", args)
		if diff := cmp.Diff(code(after, file, 0, true), f.content(t, name)); diff != "" || isError {
			t.Fatalf("seed %d, %q for %q, error %v: %s\ncontent (-want +got):\n%s", seed, mine, file, isError, got, diff)
		}
	}
}
