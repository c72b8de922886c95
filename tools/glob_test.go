package tools_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// age sets when a file was changed last, in seconds before now.
func (f *files) age(t testing.TB, name string, seconds int) {
	t.Helper()
	at := time.Unix(1_000_000_000-int64(seconds), 0)
	if err := os.Chtimes(filepath.Join(f.dir, name), at, at); err != nil {
		t.Fatal(err)
	}
}

func (f *files) link(t testing.TB, target, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(f.dir, name)); err != nil {
		t.Fatal(err)
	}
}

func TestGlob(t *testing.T) {
	f := newFiles(t)
	for i, name := range []string{
		"main.go", "src/a.go", "src/b_test.go", "src/deep/c.go", "docs/readme.md", ".github/ci.yml", ".gitignore",
		"node_modules/x/index.js", "src/gen.log", "src/keep.log", ".git/config", "odd/line\nbreak\x1b.txt", "odd/[x].txt", "with space/f.txt",
	} {
		f.put(t, name, "x")
		f.age(t, name, i)
	}
	f.put(t, ".gitignore", "node_modules/\n*.log\n!keep.log\n")
	f.age(t, ".gitignore", 6)
	f.link(t, "src/a.go", "alias.go")
	f.link(t, "src", "linked")
	f.link(t, "/etc", "out")
	f.link(t, "..", "loop")
	for _, tt := range []struct {
		name    string
		args    map[string]any
		want    string   // the whole answer
		has     []string // parts of it
		lacks   []string
		isError bool
	}{
		{name: "any depth, the newest first", args: map[string]any{"pattern": "**/*.go"}, want: "alias.go -> src/a.go\nmain.go\nsrc/a.go\nsrc/b_test.go\nsrc/deep/c.go\n"},
		{name: "without a slash", args: map[string]any{"pattern": "*.go"}, has: []string{"src/deep/c.go"}},
		{name: "in the folder itself", args: map[string]any{"pattern": "./*.go"}, want: "alias.go -> src/a.go\nmain.go\n"},
		{name: "in a folder", args: map[string]any{"pattern": "src/*.go"}, want: "src/a.go\nsrc/b_test.go\n"},
		{name: "path", args: map[string]any{"pattern": "*.go", "path": "src"}, want: "src/a.go\nsrc/b_test.go\nsrc/deep/c.go\n"},
		{name: "alternatives", args: map[string]any{"pattern": "{docs,.github}/*.{md,yml}"}, want: "docs/readme.md\n.github/ci.yml\n"},
		{name: "absolute", args: map[string]any{"pattern": "/workspace/src/**/c.go"}, want: "src/deep/c.go\n"},
		{name: "absolute and path", args: map[string]any{"pattern": "/workspace/src/**/c.go", "path": "docs"}, has: []string{"leave path out"}, isError: true},
		{name: "what is in folders", args: map[string]any{"pattern": "{main.*,docs}/**"}, want: "docs/readme.md\n"},
		{name: "alternatives of what is in folders", args: map[string]any{"pattern": "{*.go/**,d*/**,src/d*/**}"}, want: "src/deep/c.go\ndocs/readme.md\n"},
		{name: "folders of any depth", args: map[string]any{"pattern": "s*/**/"}, has: []string{"src/\n", "src/deep/\n"}, lacks: []string{"main"}},
		{name: "one name", args: map[string]any{"pattern": "src/a.go"}, want: "src/a.go\n"},
		{name: "ignored and taken back in", args: map[string]any{"pattern": "*.log"}, want: "src/keep.log\n"},
		{name: "ignored", args: map[string]any{"pattern": "*.log", "ignored": true}, want: "src/gen.log\nsrc/keep.log\n"},
		{
			name: "only ignored", args: map[string]any{"pattern": "**/index.js"},
			want: "no file matches in the workspace\n[2 names left out by .gitignore or .ignore; set ignored to look there, too]\n",
		},
		{name: "named although ignored", args: map[string]any{"pattern": "node_modules/**/*.js"}, want: "node_modules/x/index.js\n"},
		{name: "never .git", args: map[string]any{"pattern": "**/config", "ignored": true}, has: []string{"no file matches"}},
		{name: "folders", args: map[string]any{"pattern": "d*/"}, has: []string{"docs/\n", "src/deep/\n"}, lacks: []string{"readme"}},
		{name: "links to folders are not followed", args: map[string]any{"pattern": "**"}, has: []string{"linked -> src\n", "loop -> ..\n", "out -> /etc\n"}, lacks: []string{"linked/", "passwd", "loop/"}},
		{name: "a link that is named is followed", args: map[string]any{"pattern": "linked/*.go"}, want: "src/a.go\nsrc/b_test.go\n"},
		{name: "a link outside", args: map[string]any{"pattern": "out/*"}, has: []string{"outside the workspace"}, isError: true},
		{name: "outside", args: map[string]any{"pattern": "../*"}, has: []string{"outside the workspace"}, isError: true},
		{name: "limit", args: map[string]any{"pattern": "*.go", "limit": 1}, want: "alias.go -> src/a.go\n[these are the newest; 4 files more exist: narrow the pattern or raise limit (at most 1000)]\n"},
		{name: "limit over the largest", args: map[string]any{"pattern": "*.md", "limit": 1e9}, has: []string{"limit was more than the largest, 1000"}},
		{name: "names are shown on one line", args: map[string]any{"pattern": "odd/line*"}, want: "odd/line⟦0a⟧break⟦1b⟧.txt\n"},
		{name: "escaped marks", args: map[string]any{"pattern": `odd/\[x\].txt`}, want: "odd/[x].txt\n"},
		{name: "a space", args: map[string]any{"pattern": "with space/*"}, want: "with space/f.txt\n"},
		{name: "malformed", args: map[string]any{"pattern": "src/[a"}, has: []string{"malformed"}, isError: true},
		{name: "empty", args: map[string]any{"pattern": ""}, has: []string{"**/*"}, isError: true},
		{name: "a folder that is missing", args: map[string]any{"pattern": "scr/*.go"}, want: `"scr": does not exist; did you mean src?`, isError: true},
		{name: "a path that is a file", args: map[string]any{"pattern": "*", "path": "main.go"}, has: []string{"not a folder"}, isError: true},
		{name: "no pattern", args: map[string]any{"path": "src"}, has: []string{`"pattern" is missing`}, isError: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, isError := f.call(t, "glob", tt.args)
			if isError != tt.isError || tt.want != "" && got != tt.want {
				t.Errorf("got %q (error: %v)\nwant %q", got, isError, tt.want)
			}
			for _, has := range tt.has {
				if !strings.Contains(got, has) {
					t.Errorf("%q lacks %q", got, has)
				}
			}
			for _, lacks := range tt.lacks {
				if strings.Contains(got, lacks) {
					t.Errorf("%q holds %q", got, lacks)
				}
			}
		})
	}
}

// Of many files of one time the first by name are shown, each time the same.
func TestGlobFixedOrder(t *testing.T) {
	f := newFiles(t)
	for i := range 1500 {
		name := fmt.Sprintf("d%d/f%04d", i%7, i)
		f.put(t, name, "")
		f.age(t, name, 0)
	}
	first, _ := f.call(t, "glob", map[string]any{"pattern": "**", "limit": 10})
	if !strings.HasPrefix(first, "d0/f0000\nd0/f0007\n") || !strings.Contains(first, "1,490 files more exist") {
		t.Errorf("got %q", first)
	}
	for range 20 {
		if again, _ := f.call(t, "glob", map[string]any{"pattern": "**", "limit": 10}); again != first {
			t.Fatalf("then %q, first %q", again, first)
		}
	}
}
