package ignore_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/belljar/belljar/internal/ignore"
)

func parse(text string) *ignore.Rules { return ignore.Parse([]byte(text), 1<<20) }

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
		{"range that is none", "[b-a]x", "bx", "ignored"},
		{"range that is none, its end", "[b-a]x", "ax", ""},
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
			ignored, decided := parse(tt.rules).Match(path, isDir, nil)
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
	if _, decided := none.Match("a", false, nil); decided || !none.Empty() {
		t.Error("nil decided")
	}
	if !parse("# a\n\n/\n").Empty() {
		t.Error("rules without effect are kept")
	}
}

// Rules come from an untrusted folder: none may take long.
func TestMatchHostile(t *testing.T) {
	path := strings.Repeat("a/", 1000) + "a"
	for _, text := range []string{
		strings.Repeat("**/a/", 160) + "b", strings.Repeat("*a", 250) + "b", strings.Repeat("a*/**/", 120) + "b",
	} {
		if ignored, _ := parse(text).Match(path, false, nil); ignored {
			t.Errorf("%.20q… matched", text)
		}
	}
}

// What is passed over of a file is told, and the rest counts.
func TestParseBounds(t *testing.T) {
	filler := strings.Repeat("#\n", ignore.MaxFile/2)
	for _, tt := range []struct {
		name, text string
		room       int
		ignored    []string
		kept       []string
		cut        bool
	}{
		{"whole", "a\n", 1 << 20, []string{"a"}, nil, false},
		{"a long rule", "a\n" + strings.Repeat("?", 600) + "\nb\n", 1 << 20, []string{"a", "b"}, []string{strings.Repeat("x", 600)}, true},
		{"a long name", strings.Repeat("n", 5000) + "\na\n", 1 << 20, []string{"a"}, []string{strings.Repeat("n", 5000)}, true},
		{"too many", strings.Repeat("a\n", 100) + "b\n", 10_000, []string{"a"}, []string{"b"}, true},
		{"a rule cut at the end", "a\n" + filler[:len(filler)-4] + "/bcd", 1 << 20, []string{"a"}, []string{"b", "bc"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := ignore.Parse([]byte(tt.text), tt.room)
			if r.Cut() != tt.cut || r.Cost() > tt.room {
				t.Errorf("cut %v, cost %d of %d", r.Cut(), r.Cost(), tt.room)
			}
			for _, path := range tt.ignored {
				if ignored, _ := r.Match(path, false, nil); !ignored {
					t.Errorf("%.20q is not ignored", path)
				}
			}
			for _, path := range tt.kept {
				if ignored, _ := r.Match(path, false, nil); ignored {
					t.Errorf("%.20q is ignored", path)
				}
			}
		})
	}
}

// The cost that is told is what the rules take.
func TestParseMemory(t *testing.T) {
	for _, unit := range []string{"[a]", "a\n", "?", "*a", "?\n"} {
		line := strings.Repeat(unit, 300) + "\n"
		text := []byte(strings.Repeat(line, ignore.MaxFile/len(line)))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := ignore.Parse(text, 1<<20)
		runtime.ReadMemStats(&after)
		got := after.TotalAlloc - before.TotalAlloc
		if r.Cost() > 1<<20 || got > 16<<20 {
			t.Errorf("%q: %d bytes are told, %d allocated", unit, r.Cost(), got)
		}
	}
}

// A call ends between two rules when it is told to.
func TestMatchStops(t *testing.T) {
	r := parse(strings.Repeat("*a*b\n", 1000))
	asked := 0
	if _, decided := r.Match("aaaa", false, func() bool { asked++; return asked == 3 }); decided || asked != 3 {
		t.Errorf("decided %v after %d questions", decided, asked)
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
		r := parse(rules)
		ignored, decided := r.Match(path, false, nil)
		if ignored && !decided {
			t.Error("ignored, and undecided")
		}
		// What a file's rules decide, they decide for a folder's too, unless a
		// rule for folders comes after.
		if _, asDir := r.Match(path, true, nil); decided && !asDir {
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
		if len(path) <= 200 {
			if ignored, _ := parse(rules+"\n"+escaped.String()).Match(path, false, nil); !ignored && !strings.HasPrefix(rules, "\xef\xbb\xbf") {
				t.Errorf("the rule %q does not match %q", escaped.String(), path)
			}
		}
	})
}
