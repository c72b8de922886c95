package search

import "testing"

// A set in brackets stands for one character of a name, so never for a slash,
// and for all that it stood for besides.
func TestBracketsStayInFolders(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"a[^x]b/c", "a/b/c", false},
		{"a[!x]b/c", "a/b/c", false},
		{"a[^x]b/c", "a-b/c", true},
		{"a[^x]b/c", "axb/c", false},
		{"a[^-x]b/c", "a-b/c", false},
		{"a[^x-]b/c", "a-b/c", false},
		{`a[^\]x]b/c`, "a]b/c", false},
		{`a[^\]x]b/c`, "a/b/c", false},
		{"a[+-9]b/c", "a/b/c", false},
		{"a[+-9]b/c", "a.b/c", true},
		{"a[+-9]b/c", "a0b/c", true},
		{"a[+-9]b/c", "a5b/c", true},
		{"a[+-9]b/c", "a:b/c", false},
		{"a[x-]b/c", "a-b/c", true},
		{`a[\-x]b/c`, "a-b/c", true},
		{"a[^é]b/c", "aéb/c", false},
		{"a[à-é]b/c", "aèb/c", true},
		{`a\[^x]b/c`, "a[^x]b/c", true},
		{"{q,a[^x]b}/c", "a/b/c", false},
		{"{q,a[^x]b}/c", "a-b/c", true},
		{"**/[^a]/c", "x/b/c", true},
		{"**/[^a]/c", "x/a/c", false},
	} {
		g, err := NewGlob(tt.pattern)
		if err != nil {
			t.Errorf("%q: %v", tt.pattern, err)
			continue
		}
		if got := g.Match(tt.name); got != tt.want {
			t.Errorf("%q of %q is %v, as %q", tt.pattern, tt.name, got, g.pattern)
		}
	}
}

// Members of a set never take the brackets' form from each other.
func FuzzWithoutSlash(f *testing.F) {
	for _, pattern := range []string{"[a]", "[^a-]", `[\]-\[]x`, "{[a,b],c}", "[--0]/**", `\[`, "[é-\xff]"} {
		f.Add(pattern, "a/b")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		plain, err := NewGlob(pattern)
		if err != nil {
			return
		}
		if again := withoutSlash(plain.pattern); (Glob{pattern: again}).Match(name) != (Glob{pattern: plain.pattern}).Match(name) {
			t.Errorf("%q of %q: once %q, twice %q", pattern, name, plain.pattern, again)
		}
	})
}
