package ignore_test

import (
	"strings"
	"testing"

	"github.com/belljar/belljar/internal/ignore"
)

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		name, rules, path string
		want              string // "ignored", "kept" or "" for undecided
	}{
		{"name", "a", "a", "ignored"},
		{"name at any depth", "a", "x/y/a", "ignored"},
		{"another name", "a", "ab", ""},
		{"ending", "*.o", "x/y.o", "ignored"},
		{"anchored ending", "/*.o", "a.o", "ignored"},
		{"anchored ending elsewhere", "/*.o", "x/a.o", ""},
		{"ending of a folder", "*.o", "y.o/x", ""},
		{"empty before the ending", "*.o", ".o", "ignored"},
		{"anchored", "/a", "a", "ignored"},
		{"anchored elsewhere", "/a", "x/a", ""},
		{"slash in the middle anchors", "a/b", "a/b", "ignored"},
		{"slash in the middle elsewhere", "a/b", "x/a/b", ""},
		{"folder only", "a/", "a/", "ignored"},
		{"folder only and a file", "a/", "a", ""},
		{"folder only is not anchored", "a/", "x/a/", "ignored"},
		{"last decides", "*.log\n!keep.log", "keep.log", "kept"},
		{"last decides again", "!keep.log\n*.log", "keep.log", "ignored"},
		{"star stays in a name", "a/*/c", "a/b/c", "ignored"},
		{"star crosses no slash", "a/*/c", "a/b/b/c", ""},
		{"stars at the beginning", "**/b", "b", "ignored"},
		{"stars at the beginning, deep", "**/b/c", "x/y/b/c", "ignored"},
		{"stars at the end", "a/**", "a/x/y", "ignored"},
		{"stars at the end, the folder itself", "a/**", "a", ""},
		{"stars in the middle", "a/**/b", "a/b", "ignored"},
		{"stars in the middle, deep", "a/**/b", "a/x/y/b", "ignored"},
		{"stars in the middle of a longer name", "a/**/b", "a/xb", ""},
		{"stars that are no name", "/a**b", "axxb", "ignored"},
		{"stars that are no name cross no slash", "/a**b", "ax/xb", ""},
		{"three stars", "a/***/b", "a/x/y/b", "ignored"},
		{"question mark", "a?c", "abc", "ignored"},
		{"question mark is no slash", "x/a?c", "x/a/c", ""},
		{"class", "[a-c]x", "bx", "ignored"},
		{"class negated", "[!a-c]x", "dx", "ignored"},
		{"class negated with a caret", "[^a-c]x", "ax", ""},
		{"bracket in a class", "[]a]", "]", "ignored"},
		{"dash at the end of a class", "[a-]", "-", "ignored"},
		{"named class", "[[:digit:]]x", "7x", "ignored"},
		{"unknown class", "[[:what:]]x", "7x", ""},
		{"open bracket", "[ab", "[ab", ""},
		{"class holds no slash", "a[/]b", "a/b", ""},
		{"escape", `\*`, "*", "ignored"},
		{"escape is literal", `\*`, "a", ""},
		{"escaped mark", `\!a`, "!a", "ignored"},
		{"escaped number sign", `\#a`, "#a", "ignored"},
		{"comment", "#a", "#a", ""},
		{"backslash at the end", `a\`, `a\`, ""},
		{"spaces at the end", "a  ", "a", "ignored"},
		{"escaped space at the end", `a\ `, "a ", "ignored"},
		{"space in the middle", "a b", "a b", "ignored"},
		{"CRLF", "a\r\nb\r\n", "b", "ignored"},
		{"byte order mark", "\xef\xbb\xbfa\n", "a", "ignored"},
		{"no newline at the end", "x\na", "a", "ignored"},
		{"only a slash", "/", "a/", ""},
		{"empty negation", "!", "a", ""},
		{"letters of another case", "A", "a", ""},
		{"question mark is a byte", "?", "é", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path, isDir := strings.CutSuffix(tt.path, "/")
			ignored, decided := ignore.Parse([]byte(tt.rules)).Match(path, isDir)
			got := ""
			if decided && ignored {
				got = "ignored"
			} else if decided {
				got = "kept"
			}
			if got != tt.want {
				t.Errorf("%q of %q is %q, want %q", tt.path, tt.rules, got, tt.want)
			}
		})
	}
}

func TestNoRules(t *testing.T) {
	var none *ignore.Rules
	if _, decided := none.Match("a", false); decided || !none.Empty() {
		t.Error("nil decided")
	}
	if !ignore.Parse([]byte("# a\n\n/\n")).Empty() {
		t.Error("rules without effect are kept")
	}
}

// Rules come from an untrusted folder: none may take long.
func TestMatchHostile(t *testing.T) {
	path := strings.Repeat("a/", 1000) + "a"
	for _, text := range []string{
		strings.Repeat("**/a/", 500) + "b", strings.Repeat("*a", 1000) + "b", strings.Repeat("a*/**/", 300) + "b",
	} {
		if ignored, _ := ignore.Parse([]byte(text)).Match(path, false); ignored {
			t.Errorf("%.20q… matched", text)
		}
	}
}

func FuzzMatch(f *testing.F) {
	for _, seed := range [][2]string{
		{"*.o\n!a.o", "a.o"}, {"a/**/b", "a/b"}, {"[[:alpha:]-]", "x"}, {"[", "["}, {`\`, `\`}, {"**", "a/b"}, {"a/***", "a/b"}, {" \\ ", " "},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, rules, path string) {
		if len(path) > 200 || len(rules) > 1000 {
			return
		}
		r := ignore.Parse([]byte(rules))
		ignored, decided := r.Match(path, false)
		if ignored && !decided {
			t.Error("ignored, and undecided")
		}
		// What a file's rules decide, they decide for a folder's too, unless a
		// rule for folders comes after.
		if _, asDir := r.Match(path, true); decided && !asDir {
			t.Error("decided for a file only")
		}
		// A rule put last that names the path decides.
		if path == "" || strings.ContainsAny(path, "/\n\r\x00 ") {
			return
		}
		var escaped strings.Builder
		for i := range len(path) {
			escaped.WriteByte('\\')
			escaped.WriteByte(path[i])
		}
		if len(escaped.String()) < 4000 {
			if ignored, _ := ignore.Parse([]byte(rules+"\n"+escaped.String())).Match(path, false); !ignored && !strings.HasPrefix(rules, "\xef\xbb\xbf") {
				t.Errorf("the rule %q does not match %q", escaped.String(), path)
			}
		}
	})
}
