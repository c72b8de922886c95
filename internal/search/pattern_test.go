package search

import (
	"bytes"
	"context"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lines gives the numbers of the lines that a pattern finds.
func lines(t testing.TB, pattern, text string, opts PatternOptions) []int {
	t.Helper()
	p, err := NewPattern(pattern, opts)
	if err != nil {
		t.Fatal(err)
	}
	m := p.matcher(t.Context())
	m.reset([]byte(text))
	var found []int
	for at := 0; ; {
		s, ok := m.find(at)
		if !ok {
			return found
		}
		if s.begin < at || s.next <= at || s.to < s.from || s.to > len(text) || s.begin < s.from || s.end < s.begin || s.end > len(text) {
			t.Fatalf("span %+v from %d of %d bytes", s, at, len(text))
		}
		first := strings.Count(text[:s.from], "\n") + 1
		for n := range strings.Count(text[s.from:s.to], "\n") + 1 {
			found = append(found, first+n)
		}
		at = s.next
	}
}

func TestFind(t *testing.T) {
	fold, whole := PatternOptions{IgnoreCase: true}, PatternOptions{Multiline: true}
	for _, tt := range []struct {
		name, pattern, text string
		opts                PatternOptions
		want                []int
	}{
		{name: "literal", pattern: "two", text: "one\ntwo\nthree two\n", want: []int{2, 3}},
		{name: "twice in a line", pattern: "aa", text: "aa aa\n", want: []int{1}},
		{name: "no newline at the end", pattern: "two", text: "one\ntwo", want: []int{2}},
		{name: "one letter", pattern: "t", text: "one\ntwo", want: []int{2}},
		{name: "empty lines", pattern: "^$", text: "a\n\nb\n\n", want: []int{2, 4}},
		{name: "empty text", pattern: "^", text: "", want: nil},
		{name: "every line", pattern: "x*", text: "a\nb\n", want: []int{1, 2}},
		{name: "beginning", pattern: "^two", text: "two\na two\ntwo", want: []int{1, 3}},
		{name: "end", pattern: "two$", text: "two\ntwo a\na two", want: []int{1, 3}},
		{name: "end before CRLF", pattern: "two$", text: "two\r\ntwo a\r\n", want: []int{1}},
		{name: "empty before CRLF", pattern: "^$", text: "a\r\n\r\nb\r\n", want: []int{2}},
		{name: "CRLF is no space at the end", pattern: `\s$`, text: "two\r\ntwo \r\nthree\t\r\n\n\r\n", want: []int{2, 3}},
		{name: "CRLF is no character of the line", pattern: `o.$`, text: "two\r\ntwos\r\n", want: []int{2}},
		{name: "CR that is asked for", pattern: `\r$`, text: "a\r\nb\n\r\n", want: []int{1, 3}},
		{name: "CR in a set of its own", pattern: `[\r\n]`, text: "a\r\nb\n", want: []int{1}},
		{name: "CR in a set with others", pattern: `[ \t\r]+$`, text: "a\r\nb\nc \n", want: []int{1, 3}},
		{name: "CR as an alternative", pattern: `;|\r`, text: "a\r\nb;\r\nc\n;\n", want: []int{1, 2, 4}},
		{name: "CR within a line", pattern: `a.b`, text: "a\rb\r\n", want: []int{1}},
		{name: "bounds of text are those of the line", pattern: `\Atwo\z`, text: "one\ntwo\ntwo three\n", want: []int{2}},
		{name: "space stays in the line", pattern: `a\s+b`, text: "a\nb\na b\n", want: []int{3}},
		{name: "class stays in the line", pattern: `a[^x]b`, text: "a\nb\na-b\n", want: []int{3}},
		{name: "dot stays in the line", pattern: `(?s)a.b`, text: "a\nb\na-b\n", want: []int{3}},
		{name: "word bound", pattern: `\bis\b`, text: "this\nis\nit is.\nisnt\n", want: []int{2, 3}},
		{name: "no word bound", pattern: `\Bis`, text: "this\nis\n", want: []int{1}},
		{name: "word bound at both ends of a line", pattern: `\b\w\b`, text: "ab\na\n", want: []int{2}},
		{name: "alternatives", pattern: "one|three", text: "one\ntwo\nthree\n", want: []int{1, 3}},
		{name: "alternatives, one short", pattern: "o|three", text: "one\ntwo\nthree\n", want: []int{1, 2, 3}},
		{name: "needle that is not enough", pattern: `func \w+\(\)`, text: "func a()\nfunc b(x)\nfunc ()\n", want: []int{1}},
		{name: "no needle", pattern: `[A-Z]{3}\d`, text: "ABC1\nAB1\nxABC1\n", want: []int{1, 3}},
		{name: "case", pattern: "two", text: "TWO\nTwo\n", opts: fold, want: []int{1, 2}},
		{name: "case of long s and Kelvin", pattern: "sk", text: "\u017f\u212a\nSK\nxx\n", opts: fold, want: []int{1, 2}},
		{name: "case in the pattern", pattern: "(?i)tWo", text: "TWO\n", want: []int{1}},
		{name: "beyond ASCII", pattern: `é+\d`, text: "é\néé7\ne7\n", want: []int{2}},
		{name: "class beyond ASCII", pattern: `\p{Han}`, text: "a\n中\nb\n", want: []int{2}},
		{name: "bytes that are not UTF-8", pattern: `a.b`, text: "a\xe9b\na\xe9\n", want: []int{1}},
		{name: "replacement character", pattern: "caf\ufffd", text: "caf\xe9\ncafe\n", want: []int{1}},
		{name: "across lines", pattern: `a\nb`, text: "x\na\nb\nx\n", opts: whole, want: []int{2, 3}},
		{name: "across lines that end in CRLF", pattern: `a\nb\n\nc`, text: "x\r\na\r\nb\r\n\r\nc\r\n", opts: whole, want: []int{2, 3, 4, 5}},
		{name: "CRLF that is asked for", pattern: `a\r\nb`, text: "a\nb\na\r\nb\r\n", opts: whole, want: []int{3, 4}},
		{name: "a count of newlines", pattern: `a\n{2}b`, text: "a\r\n\r\nb\n", opts: whole, want: []int{1, 2, 3}},
		{name: "dot across lines", pattern: `\{.*?\}`, text: "x {\n1\n} y\nz\n", opts: whole, want: []int{1, 2, 3}},
		{name: "begins where the last ended", pattern: `a\nb|c\nd`, text: "a\nbc\nd\n", opts: whole, want: []int{1, 2, 2, 3}},
		{name: "the beginning of a line after a match", pattern: `a|^b`, text: "ab\nb\n", opts: whole, want: []int{1, 2}},
		{name: "word bound after a match", pattern: `a|\bb`, text: "ab\nb\n", opts: whole, want: []int{1, 2}},
		{name: "ends in a newline", pattern: `b\n`, text: "a\nb\nc\n", opts: whole, want: []int{2}},
		{name: "nothing after the last line", pattern: `$`, text: "a\n", opts: whole, want: []int{1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, lines(t, tt.pattern, tt.text, tt.opts)); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPatternErrors(t *testing.T) {
	for _, tt := range []struct{ name, pattern, want string }{
		{"empty", "", "is empty"},
		{"open bracket", "a(", "set literal"},
		{"lookahead", "a(?=b)", "no lookaround"},
		{"lookbehind", "(?<!a)b", "no lookaround"},
		{"backreference", `(a)\1`, "no backreferences"},
		{"newline", `a\nb`, "set multiline"},
		{"too long", strings.Repeat("a", 5000), "more than 4096"},
		{"too large", "(a{500}){500}", "RE2"},
		{"too large a program", "(?:" + strings.Repeat("a?", 40) + "){1000}", "lower the counts"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := NewPattern(tt.pattern, PatternOptions{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestRequired(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		needles []string
		plain   bool
	}{
		{"needle", []string{"needle"}, true},
		{"(needle)", []string{"needle"}, true},
		{`func \w+\(ctx`, []string{"func "}, false},
		{`\w+needle\d`, []string{"needle"}, false},
		{"one|three", []string{"one", "three"}, false},
		{"(?:ab)+c", []string{"ab"}, false},
		{"(?:ab)*cd", []string{"cd"}, false},
		{"(?:needle){2,}", []string{"needle"}, false},
		{"(?i)needle", nil, false},
		{"one|t.*", nil, false},
		{"a?", nil, false},
		{"x", nil, false},
	} {
		t.Run(tt.pattern, func(t *testing.T) {
			p, err := NewPattern(tt.pattern, PatternOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, needle := range p.needles {
				got = append(got, string(needle))
			}
			if diff := cmp.Diff(tt.needles, got); diff != "" || p.plain != tt.plain {
				t.Errorf("plain: %v, needles (-want +got):\n%s", p.plain, diff)
			}
		})
	}
}

// An expression is ended in the midst of a long text when the time is over.
func TestFindStops(t *testing.T) {
	text := []byte(strings.Repeat("ab ", stretchSteps/4) + "yx")
	for _, multiline := range []bool{false, true} {
		p, err := NewPattern(`(?:\w+\s+)+y.`, PatternOptions{Multiline: multiline})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		m := p.matcher(ctx)
		m.reset(text)
		if s, ok := m.find(0); !ok || s.end != len(text) {
			t.Errorf("multiline %v: found %v, %+v", multiline, ok, s)
		}
		cancel()
		m.reset(text)
		if s, ok := m.find(0); ok {
			t.Errorf("multiline %v: found %+v after the end", multiline, s)
		}
	}
}

// Patterns with very many states fall back to the expression itself.
func TestAutomatonOverflow(t *testing.T) {
	var text bytes.Buffer
	for i := range 1 << 12 {
		for bit := range 12 {
			text.WriteByte("ab"[i>>bit&1])
		}
		text.WriteString("\n")
	}
	pattern := "a[ab]{10}c?b$"
	want := naive(t, pattern, text.Bytes())
	if got := lines(t, pattern, text.String(), PatternOptions{}); !slices.Equal(got, want) {
		t.Errorf("%d lines, want %d", len(got), len(want))
	}
}

// Characters that an expression cannot tell apart are one to the automaton.
func TestAutomatonClasses(t *testing.T) {
	var text bytes.Buffer
	for i := range 100_000 {
		text.WriteRune(rune(0x4e00 + i%500))
		if i%1000 == 999 {
			text.WriteString("é7\n")
		}
	}
	for _, tt := range []struct {
		pattern string
		lines   int
		steps   int // at most
	}{
		{`[^\n]{300}[a-z]`, 0, 1000},
		{`[\x{4e10}-\x{4e20}][^\n]{200}[a-z]`, 0, maxSteps},
		{`[\x{4f00}-\x{5000}][éè][0-9]`, 100, 100},
		{`(?i)É[0-9]`, 100, 100},
		{`\p{Greek}7|\p{Han}[éè]`, 100, 1000},
		{`[^\p{Han}][7]`, 100, 1000},
	} {
		t.Run(tt.pattern, func(t *testing.T) {
			p, err := NewPattern(tt.pattern, PatternOptions{})
			if err != nil {
				t.Fatal(err)
			}
			a, got := newAutomaton(t.Context(), p.program), 0
			for at := 0; at < text.Len(); got++ {
				hit, ok := a.find(text.Bytes(), at)
				if !ok {
					break
				}
				_, to := lineAround(text.Bytes(), at, hit)
				at = to + 1
			}
			if !a.overflow && got != tt.lines || a.steps > tt.steps+1 {
				t.Errorf("%d lines, %d steps, overflow %v", got, a.steps, a.overflow)
			}
		})
	}
}

// An automaton does not go on when the time is over.
func TestAutomatonStops(t *testing.T) {
	p, err := NewPattern(`[a-z]+[0-9]`, PatternOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(strings.Repeat("a\n", askedEvery) + "a1\n")
	ctx, cancel := context.WithCancel(t.Context())
	a := newAutomaton(ctx, p.program)
	if _, ok := a.find(text, 0); !ok {
		t.Error("nothing is found")
	}
	cancel()
	if _, ok := a.find(text, 0); ok {
		t.Error("it went on")
	}
}

// What an expression does between two looks at the time is bounded.
func TestPatternStretch(t *testing.T) {
	for _, text := range []string{"a[bc]", "(?:" + strings.Repeat("a?", 8) + "){1000}"} {
		p, err := NewPattern(text, PatternOptions{Multiline: true})
		if err != nil {
			t.Fatal(err)
		}
		program, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		compiled, err := syntax.Compile(program.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		if steps := p.stretch * len(compiled.Inst); steps > 2*stretchSteps {
			t.Errorf("%.20q: %d steps", text, steps)
		}
	}
}

// naive holds each line against the expression alone.
func naive(t testing.TB, pattern string, text []byte) []int {
	t.Helper()
	p, err := NewPattern(pattern, PatternOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if p.re.Match(bytes.TrimSuffix(line, []byte("\n"))) {
			found = append(found, n)
		}
	}
	return found
}

// However lines are found, they are those that the expression matches one by
// one.
func FuzzFind(f *testing.F) {
	for _, seed := range [][2]string{
		{`a\b`, "ab\na b\n"}, {"(?i)sk", "\u017f\u212a\n"}, {"^$", "\r\n\n"}, {"[^a]", "\xff\n\xc3"}, {`\B`, "\n"}, {"a|bc|d$", "abcd\r\n"},
		{`x*y|\z`, "xxy\n\nz"}, {"é.", "é\né\xff"}, {"(a|b)*c{2,3}", "abcc\nabc"}, {"\ufffd", "\xff\n\xef\xbf\xbd"},
	} {
		f.Add(seed[0], []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, pattern string, text []byte) {
		if len(pattern) > 100 || len(text) > 2000 {
			return
		}
		if _, err := NewPattern(pattern, PatternOptions{}); err != nil {
			return
		}
		if diff := cmp.Diff(naive(t, pattern, text), lines(t, pattern, string(text), PatternOptions{})); diff != "" {
			t.Errorf("%q in %q (-want +got):\n%s", pattern, text, diff)
		}
	})
}
