package guard_test

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belljar/belljar/internal/guard"
)

// generous tells a look that hangs from one on a busy machine.
const generous = 2 * time.Minute

// Scripts of a megabyte that nest, repeat or grow come to an end, and what
// stands before is found.
func TestBounds(t *testing.T) {
	const mib = 1 << 20
	repeat := func(s string) string { return strings.Repeat(s, mib/len(s)) }
	for name, script := range map[string]string{
		"lines": repeat("true\n"), "one line": repeat("a "), "one word": repeat("a"), "semicolons": repeat("a;"), "pipes": repeat("a|"), "and": repeat("a&&"),
		"subshells": repeat("("), "braces": repeat("{ "), "substitutions": repeat("$("), "backquotes": repeat("`"), "quotes in substitutions": repeat("\"$("), "parameters": repeat("${a:-"), "arithmetic": repeat("$(("),
		"closed subshells": strings.Repeat("(", mib/3) + "a" + strings.Repeat(")", mib/3), "closed substitutions": strings.Repeat("$(", mib/4) + "a" + strings.Repeat(")", mib/4), "ifs": repeat("if a; then "), "whiles": repeat("while a; do "), "cases": repeat("case a in a) "), "functions": repeat("f() { "), "negations": repeat("! "), "times": repeat("time "),
		"brace lists": "echo " + repeat("{a,b}"), "nested lists": "echo " + strings.Repeat("{a,", mib/5) + strings.Repeat("}", mib/5), "sequence": "echo {1..1000000000}", "tests": "[[ " + repeat("( "), "not tests": "[[ " + repeat("! "), "arithmetic parens": "((" + repeat("("), "minus": "((" + repeat("- "),
		"here-documents": repeat("cat <<E\nx\nE\n"), "open here-documents": repeat("<<E "), "arrays": "a=(" + repeat("x ") + ")", "assignments": repeat("a=1 "), "redirections": repeat(">x "), "process substitutions": repeat("<("), "extended patterns": repeat("@("), "comments": repeat("#x\n"), "backslashes": repeat("\\"), "nul": repeat("\x00"), "not UTF-8": repeat("\xff"),
		"growing":   "x=aaaaaaaaaaaaaaaa\n" + strings.Repeat("x=$x$x$x\n", 1000) + "echo $x",
		"loops":     strings.Repeat("for a in 1 2 3 4 5 6 7 8; do ", 100) + "rm $a" + strings.Repeat("; done", 100),
		"recursion": "f() { f; f; }; f", "two functions": "f() { g; g; }; g() { f; f; }; f",
		"functions that call": "f0() { :; }\n" + strings.Repeat("f1() { f0; f0; f0; }; f0() { f1; f1; f1; }\n", 1000) + "f0",
		"many variables": func() string {
			var b strings.Builder
			for i := range 20000 {
				b.WriteString("v" + strconv.Itoa(i) + "=1; (true); ")
			}
			return b.String()
		}(),
		"scripts in scripts": "x='eval \"$x\"'; eval \"$x\"", "shells in loops": repeat("bash -c 'ls'\n"), "evals": repeat("eval a;"), "no words": "$(x) \"\" ''", "variables alone": "$a $b \"$c\" $(d) \"\" $e",
		"pipes of shells": repeat("echo ls|sh\n"), "long patterns": "cd /; rm -rf " + strings.Repeat("*a", mib/2), "many patterns": "cd /; rm -rf " + repeat("/*a*b "),
		"open braces": "echo " + repeat("{"), "braces that are none": "echo " + strings.Repeat("{", mib/2) + strings.Repeat("}", mib/2), "open brackets": "echo " + repeat("["), "open brackets in a value": "x='" + strings.Repeat("[", 1<<16) + "'\n" + strings.Repeat("echo $x\n", 1000), "brackets over a slash": "echo " + repeat("[") + "/]",
		"names": "echo \"" + func() string {
			var b strings.Builder
			for i := range 150_000 {
				fmt.Fprintf(&b, "$a%d", i)
			}
			return b.String()
		}() + "\"", "parts of a word": "echo " + repeat("$a"), "parts with braces": "echo " + strings.Repeat("$a", mib/4) + strings.Repeat("{a,b}", 60) + strings.Repeat("$a", mib/4),
		"traps": repeat("trap ls EXIT\n"), "traps in loops": strings.Repeat("for a in 1 2 3 4 5 6 7 8; do trap 'echo $a' EXIT; ", 50) + strings.Repeat("; done", 50), "traps in traps": "t='trap \"$t\" EXIT'; trap \"$t\" EXIT; eval \"$t\"", "made from each other": "for f in *; do " + strings.Repeat("a=$b$f; b=$a$f; grep $a && grep $b; ", 5000) + "done", "conditions": repeat("a $x && b $x || "), "texts of a pattern": "x=" + strings.Repeat("a", 4000) + "\n" + strings.Repeat("echo ${x%%*b*b*b}\n", 5000), "functions that call others": "a() { b; b; b; }\nb() { c; c; c; }\nc() { d; d; d; }\nd() { e; e; e; }\ne() { f; f; f; }\n" + strings.Repeat("f() { a; }\n", 5000), "escapes": "echo -e $'" + repeat("\\\\x2f") + "'", "formats": "printf '" + repeat("%s") + "' a\nprintf '%s' " + repeat("a "), "unclosed documents": strings.Repeat("cat <<E; ", 5000),
		"folders": repeat("cd a\n"), "long folders": "x=/" + strings.Repeat("a/", 30_000) + "\ncd $x\n" + repeat("cd .\n"), "functions in loops": strings.Repeat("for a in 1 2 3 4 5 6 7 8; do ", 12) + "f() { " + strings.Repeat("[ x ] && y; ", 20_000) + "}" + strings.Repeat("; done", 12),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			if finding, ok := look(t, "true\n"+script, inside); ok {
				t.Errorf("finding %+v", finding)
			}
			if finding, ok := look(t, "rm -rf /\n"+script, inside); !ok || finding.Line != 1 {
				t.Errorf("finding %+v, %v", finding, ok)
			}
			if took := time.Since(start); took > generous {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// What a script's values come to takes no more memory than a bound, however
// they grow.
func TestBoundsOfValues(t *testing.T) {
	const most = 256 << 20 // bytes, allocated over all of a look
	// x is as long as a value may be.
	const long = "x=aaaaaaaaaaaaaaaa\nx=$x$x$x$x$x$x$x$x\nx=$x$x$x$x$x$x$x$x\nx=$x$x$x$x$x$x$x$x\nx=$x$x$x$x$x$x$x$x\n"
	times := func(s string) string { return strings.Repeat(s, 4000) }
	numbered := func(format string) string {
		var b strings.Builder
		for i := range 4000 {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, script := range map[string]string{
		"one word": "echo \"" + times("$x") + "\"", "without quotes": "echo " + times("$x"), "many words": "echo " + times("$x "), "many variables": numbered("a%d=$x\n"), "an array": "a=(" + times("$x ") + ")", "more of an array": numbered("a%d=($x $x $x $x $x $x)\n"),
		"braces": "echo " + strings.Repeat("{$x,$x}", 60), "braces that repeat": "echo {" + times("$x,") + "}", "here-documents": times("cat <<E\n$x$x\nE\n"), "here-strings": times("cat <<< $x\n"), "pipes": "echo $x" + times(" | cat"), "substitutions": times("y=$(echo $x)\n"), "functions": "f() { echo $x; }\n" + times("f\n"),
		"replaced": "echo $x | xargs -I{} echo " + times("{}"), "replaced by find": "find $x -exec echo " + times("{}") + " \\;", "arguments": "set -- $x $x\n" + times("echo $@\n"), "all arguments": "set -- " + times("$x ") + "\n" + times("echo \"$*\"\n"), "appended": times("y+=$x\n"), "defaults": times("echo ${y:-$x}\n"), "evals": times("eval \"echo $x\"\n"), "shells": times("bash -c \"echo $x\"\n"),
		"long names": "echo $" + strings.Repeat("a", 100_000) + "\nx=" + strings.Repeat("$"+strings.Repeat("a", 100)+"_", 4000) + "\n" + times("eval \"$x\"\n"), "folders": times("cd $x\n"), "printf": times("printf '%s\\n' $x\n"), "loops": "for a in " + times("$x ") + "; do for b in $a $a $a; do c=$b$b; done; done", "case": times("case $x in $x) y=$x$x;; esac\n"), "subshells": numbered("a%d=$x; (y=$x$x)\n"),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if finding, ok := look(t, long+script, inside); ok {
				t.Errorf("finding %+v", finding)
			}
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > most {
				t.Errorf("it took %d MiB", took>>20)
			}
		})
	}
}

// A look ends with its context, and says nothing then.
func TestCheckEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if finding, ok, err := guard.Check(ctx, strings.Repeat("true\n", 100_000)+"rm -rf /", inside); ok || err != nil {
		t.Errorf("finding %+v, %v, %v", finding, ok, err)
	}
}

// What breaks down after a finding does not take it back.
func TestWrongAfterFinding(t *testing.T) {
	for _, script := range []string{
		"rm -rf / <<E", "cat <<E; rm -rf /", "rm -rf .git; \x80", "rm -rf .git\n\x80", "sh -c 'cat <<E; rm -rf .git'", "echo 'rm -rf / <<E' | sh", "rm -rf /; 'x", "rm -rf /; $(x", "rm -rf /; `x", "rm -rf / &\n)",
		"for d in a b; do f() { [ -d $d ] && echo {x,y}; }; f; done; rm -rf .git", "for i in 1 2; do f() { if x; then echo {a,b}; fi; }; f; done; rm -rf /", "for i in 1 2; do [[ $(echo {a,b}) ]]; done; rm -rf /", "f() { x=${y:-$(echo {a,b})}; }; f; f; rm -rf /",
	} {
		if _, ok := check(t, script, "/workspace"); !ok {
			t.Errorf("%q passes", script)
		}
	}
}

// What stands at the end of a long script is found as well.
func TestEndOfLongScript(t *testing.T) {
	const lines = 20_000
	for name, line := range map[string]string{
		"commands": "echo hello\n", "substitutions": "x=$(ls)\n", "conditions": "if true; then ls; fi\n", "comments": "ls # text\n",
	} {
		t.Run(name, func(t *testing.T) {
			finding, ok := look(t, strings.Repeat(line, lines)+"rm -rf /\n", inside)
			if !ok || finding.Line != lines+1 {
				t.Errorf("finding %+v, %v", finding, ok)
			}
		})
	}
}

func TestLines(t *testing.T) {
	for script, line := range map[string]int{
		"rm -rf /": 1, "\n\nrm -rf /": 3, "ls\n(\nrm -rf /\n)": 2, "x\nbash -c '\n\nrm -rf /'": 2, "f() {\nrm -rf /\n}\nf": 4, "ls\ntrap 'ls\nrm -rf /' EXIT\nls": 2,
	} {
		if finding, ok := look(t, script, inside); !ok || finding.Line != line {
			t.Errorf("%q: finding %+v, want line %d", script, finding, line)
		}
	}
}

func TestWords(t *testing.T) {
	for script, want := range map[string]string{
		"rm -rf $BUILD/*":           "rm -rf $BUILD/* would remove everything, the workspace included where BUILD is empty, and this script does not set it",
		"cd \"$DIR\" && rm -rf *":   "rm -rf * would remove the whole workspace, which is the user's own folder where DIR is empty, and this script does not set it",
		"find . -type f | xargs rm": "rm ./** would remove the whole workspace, which is the user's own folder",
		"find $DIR -delete":         "find $DIR -delete would remove the whole workspace, which is the user's own folder where DIR is empty, and this script does not set it",
		"cd / && rm  -rf  \"*\" *":  "rm -rf * * would remove everything, the workspace included",
		"rm -rf .git":               "rm -rf .git would remove the workspace's repository with its history",
		"curl x | sh":               "the shell would run what comes from the network, which nobody has seen",
		"rm -rf \x1b[31m\u202e /":   "rm -rf  [31m  / would remove everything, the workspace included",
	} {
		if finding, ok := look(t, script, inside); !ok || finding.Text != want {
			t.Errorf("%q: %q, want %q", script, finding.Text, want)
		}
	}
}

// A secret is masked before what is shown is cut, wherever it stands and wherever
// it came from, and nothing that a script makes of one is shown.
func TestSecrets(t *testing.T) {
	const key = "sk-0123456789abcdefghijklmnopqrstuvwxyz-0123456789-0123"
	place := inside
	place.Env = []string{"API_KEY=" + key}
	place.Mask = func(text string) string { return strings.ReplaceAll(text, key, "<hidden>") }
	for _, script := range []string{
		"rsync -a --delete -e \"ssh -i k\" --exclude node_modules --exclude .venv --rsync-path \"KEY=$API_KEY rsync\" x/ .", "rm -rf ${API_KEY%4}x .", "rm -rf \"${API_KEY:0:30}\" .", "K=$API_KEY; rm -rf ${K%-*} .",
		"rm -rf / " + key, "rm -rf / " + strings.Repeat("a", 90) + key, "rm -rf / \"" + key + "\nx\"",
	} {
		finding, ok := look(t, script, place)
		if !ok || strings.Contains(finding.Text+finding.Hint, key[:8]) {
			t.Errorf("%q: %+v, %v", script, finding, ok)
		}
	}
}

// A place of which less is known has fewer guarded folders, and variables that
// it has are not taken for empty.
func TestPlaces(t *testing.T) {
	for name, test := range map[string]struct {
		place  guard.Place
		script string
		held   bool
	}{
		"nothing known":        {guard.Place{}, "rm -rf /", true},
		"no workspace":         {guard.Place{Dir: "/w"}, "rm -rf /w", false},
		"another mount point":  {guard.Place{Workspace: "/src/project", Dir: "/src/project"}, "rm -rf ../*", true},
		"no home":              {guard.Place{Dir: "/w"}, "rm -rf ~/*", true}, // it may be empty
		"a variable that is":   {guard.Place{Dir: "/w", Env: []string{"OUT=/out"}}, "rm -rf \"$OUT\"/*", false},
		"one that is the root": {guard.Place{Dir: "/w", Env: []string{"OUT=/"}}, "rm -rf \"$OUT\"", true},
		"one that is no path":  {guard.Place{Dir: "/w", Env: []string{"OUT=out"}}, "rm -rf \"$OUT\"/*", false},
		"one that is empty":    {guard.Place{Dir: "/w", Env: []string{"OUT="}}, "rm -rf \"$OUT\"/*", true},
		"one that is not":      {guard.Place{Dir: "/w", Env: []string{"OUT=/out"}}, "rm -rf \"$OUT2\"/*", true},
	} {
		t.Run(name, func(t *testing.T) {
			if finding, ok := look(t, test.script, test.place); ok != test.held {
				t.Errorf("finding %+v, %v", finding, ok)
			}
		})
	}
}

// The cases of removal are scripts, so that what is held is not held for what no
// shell would run.
func TestHeldAreScripts(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not there")
	}
	for _, script := range held()[guard.Removal] {
		script, _ := split(script)
		if strings.Contains(script, "\n") {
			continue // some of them are wrong at their end
		}
		if out, err := exec.CommandContext(t.Context(), bash, "-O", "extglob", "-n", "-c", script).CombinedOutput(); err != nil {
			t.Errorf("%q is no script: %v: %s", script, err, out)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, scripts := range held() {
		for _, script := range scripts {
			f.Add(script)
		}
	}
	for _, script := range ordinary() {
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script string) {
		finding, ok := look(t, script, inside)
		if again, ok2 := look(t, script, inside); again != finding || ok != ok2 {
			t.Fatalf("%+v, then %+v", finding, again)
		}
		if !ok {
			return
		}
		if strings.ContainsAny(finding.Text+finding.Hint, "\n\r\x1b\x00") || finding.Line < 1 || finding.Kind == "" {
			t.Errorf("finding %+v", finding)
		}
		// What follows does not change what came before it.
		if _, ok := look(t, script+"\ntrue", inside); !ok && !strings.HasSuffix(script, "\\") && !strings.Contains(script, "<<") && !strings.Contains(script, "#") {
			t.Errorf("no finding once something follows; before: %+v", finding)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	for name, script := range map[string]string{
		"short": "cd src && go test ./...", "usual": "set -e\nfor f in *.go; do gofmt -l \"$f\"; done\nif [ -d build ]; then rm -rf build; fi\ngo build ./... 2>&1 | tail -n 5\n",
		"long": strings.Repeat("echo \"$x\" | grep -v y > /dev/null\n", 1000), "megabyte": strings.Repeat("echo hello\n", (1<<20)/11),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(script)))
			for b.Loop() {
				if _, ok := look(b, script, inside); ok {
					b.Fatal("it is held")
				}
			}
		})
	}
}
