package sandboxtest

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belljar/belljar/sandbox"
)

// dirTests check that a command runs where it is told and tells where it
// ended, while the sandbox itself keeps no folder.
func dirTests() []test {
	return []test{
		{"Default", testDirDefault},
		{"Given", testDirGiven},
		{"Names", testDirNames},
		{"EndedIn", testDirEndedIn},
		{"Lost", testDirLost},
		{"DeletedWhileIn", testDirDeletedWhileIn},
		{"Link", testDirLink},
	}
}

// dirAlwaysTests check that the folder is known however the shell ended.
func dirAlwaysTests() []test {
	return []test{{"EndedIn", testDirAlways}}
}

func testDirDefault(t *testing.T, s *suite) {
	b := s.shared(t)
	out := b.script(t, "pwd; cd /")
	wantExit(t, out, 0)
	wantOutput(t, out, b.mount+"\n")
	if out.Dir != "/" {
		t.Errorf("Dir = %q, want /", out.Dir)
	}
	out = b.script(t, "pwd") // nothing is kept
	wantOutput(t, out, b.mount+"\n")
	if out.Dir != b.mount {
		t.Errorf("Dir = %q, want the mount point %q", out.Dir, b.mount)
	}
}

func testDirGiven(t *testing.T, s *suite) {
	b := s.shared(t)
	makeFolder(t, b, "given/deep")
	for _, dir := range []string{"/", "/usr", b.mount, path.Join(b.mount, "given"), path.Join(b.mount, "given/deep")} {
		out := b.run(t, sandbox.Command{Script: "pwd", Dir: dir})
		wantExit(t, out, 0)
		wantOutput(t, out, dir+"\n")
		if out.Dir != dir || out.DirLost {
			t.Errorf("Dir = %q, DirLost = %v, want %q, false", out.Dir, out.DirLost, dir)
		}
	}
}

// makeFolder makes a folder in the workspace, from inside so that its owner
// is right.
func makeFolder(t *testing.T, b *box, name string) {
	t.Helper()
	out := b.run(t, sandbox.Command{Script: `mkdir -p -- "$NAME"`, Env: []string{"NAME=" + name}})
	wantExit(t, out, 0)
}

func testDirNames(t *testing.T, s *suite) {
	b := s.shared(t)
	for _, c := range []struct{ what, name string }{
		{"spaces", " a  b "},
		{"newline", "a\nb"},
		{"newlines at the end", "a\n\n"},
		{"not UTF-8", "a\xff\xfeb"},
		{"quotes", `'a" $x`},
		{"backslashes", `a\nb\\`},
		{"leading dash", "-n"},
		{"control bytes", "a\x01\x1b[31m\x7f"},
		{"wide", "\u4e2d\u6587"},
		{"looks deleted", "a (deleted)"},
		{"glob", "*"},
		{"long", strings.Repeat("x", 255)},
	} {
		t.Run(c.what, func(t *testing.T) {
			makeFolder(t, b, "names/"+c.name)
			dir := path.Join(b.mount, "names") + "/" + c.name
			out := b.run(t, sandbox.Command{Script: "pwd; : >here", Dir: dir})
			wantExit(t, out, 0)
			wantOutput(t, out, dir+"\n")
			if out.Dir != dir || out.DirLost {
				t.Errorf("given: Dir = %q, DirLost = %v, want %q, false", out.Dir, out.DirLost, dir)
			}
			if _, err := os.Stat(filepath.Join(b.spec.Workspace, "names", c.name, "here")); err != nil {
				t.Errorf("the command ran elsewhere: %v", err)
			}
			out = b.run(t, sandbox.Command{
				Script: `cd names && cd -- "./$NAME"`, Env: []string{"NAME=" + c.name},
			})
			wantExit(t, out, 0)
			if out.Dir != dir {
				t.Errorf("ended in: Dir = %q, want %q", out.Dir, dir)
			}
		})
	}
}

func testDirEndedIn(t *testing.T, s *suite) {
	b := s.shared(t)
	makeFolder(t, b, "sub/deep")
	sub, deep := path.Join(b.mount, "sub"), path.Join(b.mount, "sub/deep")
	for _, c := range []struct {
		name, script, dir string
		code              int
	}{
		{"cd", "cd sub", sub, 0},
		{"two steps", "cd sub && cd deep", deep, 0},
		{"there and back", "cd sub; cd ..", b.mount, 0},
		{"sub-shell", "(cd sub)", b.mount, 0},
		{"pipeline", "cd sub | cat", b.mount, 0},
		{"child", "sh -c 'cd sub'", b.mount, 0},
		{"function", "f() { cd sub; }; f", sub, 0},
		{"exit", "cd sub; exit 3", sub, 3},
		{"exit in a function", "f() { cd sub; exit 3; }; f", sub, 3},
		{"set -e", "set -e; cd sub; false", sub, 1},
		{"set -u", "set -u; cd sub; exit 2", sub, 2},
		{"cd that fails", "cd no-such-folder 2>/dev/null", b.mount, -1},
		{"streams closed", "cd sub; exec >&- 2>&- <&-; exit 4", sub, 4},
		{"pwd and cd as functions", "cd sub; cd() { echo fake; }; pwd() { echo /fake; }; command() { echo /fake; }; echo() { :; }; exit 2", sub, 2},
		{"PWD changed", "cd sub; PWD=/fake; exit 2", sub, 2},
		{"PATH emptied", "cd sub; PATH=; exit 2", sub, 2},
		{"child left behind elsewhere", "cd sub; (cd deep; sleep 600) & exit 2", sub, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := b.script(t, c.script)
			if c.code >= 0 {
				wantExit(t, out, c.code)
			}
			wantOutput(t, out, "")
			if out.Dir != c.dir || out.DirLost {
				t.Errorf("Dir = %q, DirLost = %v, want %q, false", out.Dir, out.DirLost, c.dir)
			}
		})
	}
}

func testDirAlways(t *testing.T, s *suite) {
	b := s.shared(t)
	makeFolder(t, b, "sub/deep")
	sub := path.Join(b.mount, "sub")
	for _, c := range []struct {
		name, script string
		status       sandbox.Status
	}{
		{"exec", "cd sub; exec true", sandbox.Exited},
		{"exec of a shell that goes on", "exec sh -c 'cd sub; exit 3'", sandbox.Exited},
		{"exec that fails", "cd sub; exec no-such-program 2>/dev/null", sandbox.Exited},
		{"EXIT trap of its own", "trap 'true' EXIT; cd sub", sandbox.Exited},
		{"EXIT trap that moves", "trap 'cd sub' EXIT; exit 3", sandbox.Exited},
		{"EXIT trap removed", "trap - EXIT; cd sub; exit 2", sandbox.Exited},
		{"killed", "cd sub; kill -9 $$", sandbox.Signaled},
		{"terminated", "cd sub; kill -TERM $$; sleep 60", sandbox.Signaled},
		{"syntax error later", "cd sub\nif then fi", sandbox.Exited},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := b.script(t, c.script)
			wantStatus(t, out, c.status)
			if out.Dir != sub {
				t.Errorf("Dir = %q, want %q", out.Dir, sub)
			}
		})
	}
	t.Run("timed out", func(t *testing.T) {
		if out := b.timeOut(t, "cd sub; echo READY; sleep 600"); out.Dir != sub {
			t.Errorf("Dir = %q, want %q", out.Dir, sub)
		}
	})
}

func testDirLost(t *testing.T, s *suite) {
	b := s.shared(t)
	makeFolder(t, b, "gone")
	wantExit(t, b.script(t, "rmdir gone && : >file"), 0)
	for _, c := range []struct{ name, dir string }{
		{"deleted", path.Join(b.mount, "gone")},
		{"never there", "/no/such/folder"},
		{"a file", path.Join(b.mount, "file")},
		{"below a file", path.Join(b.mount, "file/x")},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, cmd := range []sandbox.Command{{Script: "pwd"}, {Args: []string{"pwd"}}} {
				cmd.Dir = c.dir
				out := b.run(t, cmd)
				wantExit(t, out, 0)
				wantOutput(t, out, b.mount+"\n")
				if !out.DirLost || out.Dir != b.mount {
					t.Errorf("Dir = %q, DirLost = %v, want %q, true", out.Dir, out.DirLost, b.mount)
				}
			}
		})
	}
}

func testDirDeletedWhileIn(t *testing.T, s *suite) {
	b := s.shared(t)
	out := b.script(t, "mkdir doomed && cd doomed && rmdir ../doomed")
	wantExit(t, out, 0)
	if !path.IsAbs(out.Dir) {
		t.Fatalf("Dir = %q, want an absolute path", out.Dir)
	}
	// The next command does what a caller does: it hands the folder back.
	next := b.run(t, sandbox.Command{Script: "pwd", Dir: out.Dir})
	wantExit(t, next, 0)
	wantOutput(t, next, b.mount+"\n")
	if !out.DirLost && out.Reason == "" && !next.DirLost {
		t.Error("no result tells that the folder was lost")
	}
}

func testDirLink(t *testing.T, s *suite) {
	b := s.shared(t)
	makeFolder(t, b, "real")
	wantExit(t, b.script(t, "ln -s real link && echo x >real/f"), 0)
	out := b.script(t, "cd link")
	wantExit(t, out, 0)
	// Either name will do, as long as it leads to the same folder.
	out = b.run(t, sandbox.Command{Script: "cat f", Dir: out.Dir})
	wantExit(t, out, 0)
	wantOutput(t, out, "x\n")
}
