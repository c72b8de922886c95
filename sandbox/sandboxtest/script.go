package sandboxtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belljar/belljar/sandbox"
)

// scriptTests check that nothing a script does to its shell changes what is
// told about it, and that the script arrives byte for byte.
func scriptTests() []test {
	return []test{
		{"OwnShell", testOwnShell},
		{"OwnBash", testOwnBash},
		{"Quoting", testQuoting},
		{"EveryByte", testEveryByte},
		{"Heredoc", testHeredoc},
		{"Long", testLongScripts},
	}
}

type scriptCase struct {
	name, script   string
	code           int
	stdout, stderr string
}

func runScriptCases(t *testing.T, b *box, cases []scriptCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out := b.script(t, c.script)
			wantExit(t, out, c.code)
			wantOutput(t, out, c.stdout)
			if out.stderr != c.stderr {
				t.Errorf("stderr = %q, want %q", clip(out.stderr), clip(c.stderr))
			}
		})
	}
}

func testOwnShell(t *testing.T, s *suite) {
	b := s.shared(t)
	runScriptCases(t, b, []scriptCase{
		{"exec", "echo a; exec sh -c 'echo b; exit 9'", 9, "a\nb\n", ""},
		{"exit", "echo a; exit 3; echo b", 3, "a\n", ""},
		{"exit in a function", "f() { echo a; exit 6; }; f; echo b", 6, "a\n", ""},
		{"exit in a sub-shell", "(exit 3); echo $?", 0, "3\n", ""},
		{"set -e", "set -e; echo a; (exit 3); echo b", 3, "a\n", ""},
		{"set -eu", "set -eu; echo a >&2; false; echo b", 1, "", "a\n"},
		{"EXIT trap", "trap 'echo bye' EXIT; echo a; exit 4", 4, "a\nbye\n", ""},
		{"EXIT trap that exits", "trap 'echo bye; exit 8' EXIT; exit 4", 8, "bye\n", ""},
		{"EXIT trap removed", "trap - EXIT; echo a; exit 4", 4, "a\n", ""},
		{"TERM trap", "trap 'echo got' TERM; kill -TERM $$; exit 2", 2, "got\n", ""},
		{"stdout closed", "echo a; exec >&-; echo b >&2; exit 5", 5, "a\n", "b\n"},
		{"stderr closed", "echo a >&2; exec 2>&-; echo b; exit 5", 5, "b\n", "a\n"},
		{"both closed", "echo a; exec >&- 2>&-; exit 6", 6, "a\n", ""},
		{"all closed", "echo a; exec <&- >&- 2>&- 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; exit 6", 6, "a\n", ""},
		{"redirected away", "exec >/dev/null 2>&1; echo a; echo b >&2; exit 7", 7, "", ""},
		{"swapped", "exec 3>&1 1>&2 2>&3 3>&-; echo out; echo err >&2", 0, "err\n", "out\n"},
		{"functions named like builtins", "cd() { :; }; read() { :; }; pwd() { :; }; command() { :; }; kill() { :; }; wait() { :; }; printf() { :; }; test() { :; }; echo a; exit 3", 3, "a\n", ""},
		{"PATH emptied", "PATH=; echo a; exit 3", 3, "a\n", ""},
		{"IFS changed", "IFS=0123456789; echo a; exit 12", 12, "a\n", ""},
		{"noclobber and a tight umask", "set -C; umask 777; echo a; exit 2", 2, "a\n", ""},
		{"variables cleared", "unset HOME PATH PWD; echo a; exit 2", 2, "a\n", ""},
		{"positional parameters", "echo $#; set -- a b; echo $#; exit 1", 1, "0\n2\n", ""},
		{"no final newline in output", "printf a; printf b >&2; exit 1", 1, "a", "b"},
	})
	t.Run("syntax error", func(t *testing.T) {
		for _, script := range []string{"if then fi", "echo 'open", "echo $(", ")", "echo a; case"} {
			out := b.script(t, script)
			if out.Status != sandbox.Exited || out.ExitCode == nil || *out.ExitCode == 0 {
				t.Errorf("%q: got %s, want exited with a code other than 0", script, show(out.Result))
			}
			if out.stderr == "" {
				t.Errorf("%q: nothing on stderr", script)
			}
		}
	})
	t.Run("argument zero and name", func(t *testing.T) {
		// A script that looks like an option is still a script.
		for _, script := range []string{"-x", "--version", "-c", "--", "-"} {
			wantExit(t, b.script(t, script), 127)
		}
	})
}

func testOwnBash(t *testing.T, s *suite) {
	b := s.shared(t)
	if !s.cfg.Bash {
		t.Log("the shell is not bash: only that a plain script runs is checked")
		wantExit(t, b.script(t, "exit 3"), 3)
		return
	}
	runScriptCases(t, b, []scriptCase{
		{"special builtins as functions", "exit() { :; }; trap() { :; }; eval() { :; }; exec() { :; }; set() { :; }; unset() { :; }; builtin() { :; }; :() { false; }; echo a; exit 3; trap x EXIT; eval false; exec false; echo b; (builtin exit 9); false", 1, "a\nb\n", ""},
		{"shadowed exit, last code counts", "exit() { :; }; echo a; exit 3; true", 0, "a\n", ""},
		{"pipefail", "set -o pipefail; (exit 3) | true", 3, "", ""},
		{"arrays and process substitution", "a=(x y); cat <(echo ${a[1]})", 0, "y\n", ""},
		{"ERR trap", "trap 'echo err' ERR; false; exit 2", 2, "err\n", ""},
		{"DEBUG trap that exits", "echo a; trap 'exit 5' DEBUG; echo b", 5, "a\n", ""},
		{"posix mode", "set -o posix; echo a; exit 3", 3, "a\n", ""},
		{"exec that fails", "exec no-such-program 2>/dev/null; echo b", 127, "", ""},
	})
	wantExit(t, b.script(t, "if then fi"), 2)
	t.Run("xtrace", func(t *testing.T) {
		// The number of signs tells how deep a shell evaluates, which is a
		// matter of how the script is handed over.
		out := b.script(t, "set -x; true")
		wantExit(t, out, 0)
		if strings.TrimLeft(out.stderr, "+") != " true\n" {
			t.Errorf("stderr = %q, want the traced command alone", out.stderr)
		}
	})
}

func testQuoting(t *testing.T, s *suite) {
	b := s.shared(t)
	runScriptCases(t, b, []scriptCase{
		{"backticks", "echo `echo a` '`b`' \"\\`c\\`\"", 0, "a `b` `c`\n", ""},
		{"dollars", `x=1; echo "$x" '$x' "\$x" $((x+1)) ${x}2`, 0, "1 $x $x 2 12\n", ""},
		{"quotes in quotes", `printf '%s\n' "it's" 'say "x"' 'a'\''b'`, 0, "it's\nsay \"x\"\na'b\n", ""},
		{"backslashes", `printf '%s\n' 'a\b\\c' "a\\b" a\\b`, 0, "a\\b\\\\c\na\\b\na\\b\n", ""},
		{"continued line", "echo a \\\n b", 0, "a b\n", ""},
		{"trailing comment", "echo a # comment", 0, "a\n", ""},
		{"trailing semicolon", "echo a;", 0, "a\n", ""},
		{"trailing ampersands in quotes", "echo 'a &'", 0, "a &\n", ""},
		{"leading and trailing newlines", "\n\n echo a \n\n", 0, "a\n", ""},
		{"carriage return", "printf '%s' 'a\r\n'", 0, "a\r\n", ""},
		{"percent and bang", `printf '%s\n' '%d %%' 'a!b!!'`, 0, "%d %%\na!b!!\n", ""},
		{"glob in quotes", "echo '*' \"?\"", 0, "* ?\n", ""},
		{"heredoc as the last thing", "cat <<'E'\n'a' `b` $c \\d\nE", 0, "'a' `b` $c \\d\n", ""},
		{"heredoc in a sub-shell", "(cat <<E\n$((1+1))\nE\n)", 0, "2\n", ""},
		{"two heredocs", "cat <<A; cat <<B\na\nA\nb\nB\n", 0, "a\nb\n", ""},
	})
	t.Run("unterminated heredoc", func(t *testing.T) {
		out := b.script(t, "cat <<'E'\nhello $x `y`\nworld")
		wantStatus(t, out, sandbox.Exited)
		if strings.TrimSuffix(out.stdout, "\n") != "hello $x `y`\nworld" {
			t.Errorf("stdout = %q, want the open document and nothing else", out.stdout)
		}
	})
	t.Run("trailing backslash", func(t *testing.T) {
		out := b.script(t, `echo a \`)
		wantStatus(t, out, sandbox.Exited)
		if got := strings.TrimRight(out.stdout, " \\\n"); got != "a" {
			t.Errorf("stdout = %q, want a", out.stdout)
		}
	})
}

// allBytes holds every byte value but NUL and the single quote.
func allBytes() string {
	var text strings.Builder
	for c := 1; c < 256; c++ {
		if c != '\'' {
			text.WriteByte(byte(c))
		}
	}
	return text.String()
}

func testEveryByte(t *testing.T, s *suite) {
	b := s.shared(t)
	want := allBytes() + "\n\n" + allBytes()
	out := b.script(t, "printf %s '"+want+"'")
	wantExit(t, out, 0)
	wantOutput(t, out, want)
	out = b.run(t, sandbox.Command{Args: []string{"printf", "%s", want}})
	wantExit(t, out, 0)
	wantOutput(t, out, want)
}

func testHeredoc(t *testing.T, s *suite) {
	b := s.shared(t)
	const line = "it's \"quoted\" `tick` $HOME $(id) \\n \\\\ %s ! # end \t\u00e9\u4e2d\n"
	body := strings.Repeat(line, 1<<20/len(line)+1)
	out := b.script(t, "cat >heredoc.txt <<'END OF IT'\n"+body+"END OF IT\necho done")
	wantExit(t, out, 0)
	wantOutput(t, out, "done\n")
	got, err := os.ReadFile(filepath.Join(b.spec.Workspace, "heredoc.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != body {
		t.Errorf("the document arrived as %d bytes %q, want %d bytes", len(got), clip(string(got)), len(body))
	}
}

func testLongScripts(t *testing.T, s *suite) {
	b := s.shared(t)
	// 4 KiB, 64 KiB and 128 KiB are where pipes, terminals and argument lists
	// have their limits.
	for _, size := range []int{4095, 4096, 4097, 65536, 131071, 131072, 131073, 200 << 10, 2 << 20} {
		const line = "# a comment that fills the script up to its length\n"
		const tail = "echo end; exit 3"
		fill := strings.Repeat(line, size/len(line)+1)[:size-len(tail)-1]
		out := b.script(t, fill+"\n"+tail)
		if out.stdout != "end\n" || out.Status != sandbox.Exited || *out.ExitCode != 3 {
			t.Errorf("%d bytes: got %s, stdout %q, stderr %q", size, show(out.Result), clip(out.stdout), clip(out.stderr))
		}
	}
}
