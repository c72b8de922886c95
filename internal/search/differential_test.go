package search_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belljar/belljar/internal/search"
	"github.com/belljar/belljar/internal/workspace"
	gocmp "github.com/google/go-cmp/cmp"
)

// output runs a program in a folder and gives the lines that it prints. An exit
// code of 1 is that of one that has found nothing.
func output(t testing.TB, dir, name string, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(asExit(err, &exit) && exit.ExitCode() == 1 && len(exit.Stderr) == 0) {
		t.Fatalf("%s %q: %v", name, args, err)
	}
	return split(string(out))
}

// split gives the lines of an output, or what ends with a zero byte in it.
func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == 0 })
}

func asExit(err error, exit **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError)
	*exit = e
	return ok
}

func need(t testing.TB, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not here to compare with: %v", program, err)
	}
}

// found lists all files as Find does.
func found(t testing.TB, w *workspace.Workspace, opts search.GlobOptions) []string {
	t.Helper()
	opts.Limit = 1 << 20
	l, err := search.Find(t.Context(), w, opts)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range l.Found {
		if f.Kind == workspace.KindFile {
			paths = append(paths, f.Path)
		}
	}
	slices.Sort(paths)
	return paths
}

// Ignore files say to Find what they say to git.
func TestFindAsGit(t *testing.T) {
	need(t, "git")
	for seed := range uint64(25) {
		w, dir := newSpace(t)
		g := &grower{Rand: rand.New(rand.NewPCG(1, seed)), t: t, dir: dir, classes: true}
		g.grow("", 0)
		output(t, dir, "git", "init", "-q")
		put(t, dir, ".git/info/exclude", g.rules())
		want := output(t, dir, "git", "ls-files", "-z", "--others", "--exclude-standard")
		slices.Sort(want)
		if diff := gocmp.Diff(want, found(t, w, search.GlobOptions{Pattern: "**"})); diff != "" {
			t.Errorf("seed %d (-git +found):\n%s%s", seed, diff, rulesOf(t, dir))
		}
	}
}

// And they say what they say to ripgrep, with .ignore files and repositories
// in repositories.
func TestFindAsRipgrep(t *testing.T) {
	rg := newRipgrep(t)
	for seed := range uint64(25) {
		w, dir := rg.space(t)
		g := &grower{Rand: rand.New(rand.NewPCG(2, seed)), t: t, dir: dir, dot: true, nested: true}
		g.grow("", 0)
		want := rg.run(t, dir, "--files", "--null")
		slices.Sort(want)
		if diff := gocmp.Diff(want, found(t, w, search.GlobOptions{Pattern: "**"})); diff != "" {
			t.Errorf("seed %d (-rg +found):\n%s%s", seed, diff, rulesOf(t, dir))
		}
		want = rg.run(t, dir, "--files", "--null", "--no-ignore", "--glob", "*.go")
		slices.Sort(want)
		if diff := gocmp.Diff(want, found(t, w, search.GlobOptions{Pattern: "*.go", Ignored: true})); diff != "" {
			t.Errorf("seed %d, *.go (-rg +found):\n%s", seed, diff)
		}
	}
}

// rulesOf shows the ignore files of a tree.
func rulesOf(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && (info.Name() == ".gitignore" || info.Name() == ".ignore" || info.Name() == "exclude") {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%s: %q\n", path[len(dir):], data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// matched gives what Grep finds in the form of ripgrep's.
func matched(t testing.TB, w *workspace.Workspace, pattern string, p search.PatternOptions, context int) []string {
	t.Helper()
	compiled, err := search.NewPattern(pattern, p)
	if err != nil {
		t.Fatal(err)
	}
	const all = 1 << 30
	m, err := search.Grep(t.Context(), w, search.GrepOptions{
		Pattern: compiled, Context: context, Limit: all, FileLimit: all, Bytes: all, LineBytes: all,
	})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range m.Files {
		for _, line := range f.Lines {
			mark := "-"
			if line.Match {
				mark = ":"
			}
			out = append(out, fmt.Sprintf("%s%s%d%s%s", f.Path, mark, line.Number, mark, line.Text))
		}
	}
	return out
}

func TestGrepAsRipgrep(t *testing.T) {
	rg := newRipgrep(t)
	fold, whole := search.PatternOptions{IgnoreCase: true}, search.PatternOptions{Multiline: true}
	for seed := range uint64(6) {
		w, dir := rg.space(t)
		g := &grower{Rand: rand.New(rand.NewPCG(3, seed)), t: t, dir: dir, contents: true}
		g.grow("", 0)
		for _, tt := range []struct {
			pattern string
			opts    search.PatternOptions
			args    []string
			peer    string // how ripgrep, which takes more for words, spells it
		}{
			{pattern: "needle"}, {pattern: "x"}, {pattern: `foo|needle`}, {pattern: `fo+\s*bar`}, {pattern: `^func \(`}, {pattern: `\bx\b`, peer: `(?-u:\b)x(?-u:\b)`},
			{pattern: `\d{2,}$`}, {pattern: `[^a-z\s]+`}, {pattern: `^$`}, {pattern: `é.`}, {pattern: `\p{Han}`}, {pattern: `(?:foo|bar)+\(`},
			{pattern: "foo", opts: fold, args: []string{"-i"}}, {pattern: "NEEDLE|É", opts: fold, args: []string{"-i"}},
			{pattern: `x\nfoo`, opts: whole, args: []string{"-U"}}, {pattern: `foo[\s\S]*?needle`, opts: whole, args: []string{"-U"}},
			{pattern: `\(.*?\)`, opts: whole, args: []string{"-U", "--multiline-dotall"}},
		} {
			context := g.IntN(3)
			args := append([]string{"--sort", "path", "--line-number", "--no-heading", "--with-filename", "--no-context-separator", "-C", fmt.Sprint(context)}, tt.args...)
			want := rg.run(t, dir, append(args, "-e", cmp.Or(tt.peer, tt.pattern), ".")...)
			if diff := gocmp.Diff(want, matched(t, w, tt.pattern, tt.opts, context)); diff != "" {
				t.Errorf("seed %d, %q, context %d (-rg +found):\n%s", seed, tt.pattern, context, diff)
			}
		}
	}
}

// The other modes, and the filter by names.
func TestGrepModesAsRipgrep(t *testing.T) {
	rg := newRipgrep(t)
	for seed := range uint64(6) {
		w, dir := rg.space(t)
		g := &grower{Rand: rand.New(rand.NewPCG(4, seed)), t: t, dir: dir, contents: true}
		g.grow("", 0)
		for _, tt := range []struct {
			opts search.GrepOptions
			args []string
		}{
			{search.GrepOptions{Mode: search.Names}, []string{"--files-with-matches"}},
			{search.GrepOptions{Mode: search.Counts}, []string{"--count"}},
			{search.GrepOptions{Mode: search.Names, Glob: "*.go", Ignored: true}, []string{"--files-with-matches", "--no-ignore", "--glob", "*.go"}},
			{search.GrepOptions{Mode: search.Counts, Glob: "![a-c]*", Ignored: true}, []string{"--count", "--no-ignore", "--glob", "![a-c]*"}},
		} {
			opts := tt.opts
			opts.Pattern, opts.Limit = pattern(t, `foo|needle\d`), 1<<20
			var got []string
			m := grep(t, w, opts)
			for _, f := range m.Files {
				line := f.Path
				if opts.Mode == search.Counts {
					line += fmt.Sprintf(":%d", f.Total)
				}
				got = append(got, line)
			}
			want := rg.run(t, dir, append(tt.args, "--sort", "path", "--with-filename", "-e", `foo|needle\d`, ".")...)
			if strings.HasPrefix(opts.Glob, "!") { // ripgrep leaves out folders of such names, too
				got = slices.DeleteFunc(got, func(line string) bool {
					return slices.ContainsFunc(strings.Split(path.Dir(line), "/"), func(name string) bool { return name != "." && strings.ContainsRune("abc", rune(name[0])) })
				})
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("seed %d, %+v (-rg +found):\n%s", seed, tt.args, diff)
			}
		}
	}
}
