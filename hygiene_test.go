package belljar_test

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// sourceFiles are the project's own files, by their paths from the root.
func sourceFiles(t *testing.T, match func(path string) bool) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{".git", "bin", "coverage", "demo"}, path) {
			return fs.SkipDir
		}
		if entry.Type().IsRegular() && match(filepath.ToSlash(path)) {
			files = append(files, filepath.ToSlash(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no file matches")
	}
	return files
}

func isGo(path string) bool      { return strings.HasSuffix(path, ".go") }
func isTest(path string) bool    { return strings.HasSuffix(path, "_test.go") }
func isShipped(path string) bool { return isGo(path) && !isTest(path) }

func parseFile(t *testing.T, path string, mode parser.Mode) (*token.FileSet, *ast.File) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, mode)
	if err != nil {
		t.Fatal(err)
	}
	return set, file
}

func TestPackageDocs(t *testing.T) {
	documented := make(map[string][]string)
	for _, path := range sourceFiles(t, isShipped) {
		_, file := parseFile(t, path, parser.PackageClauseOnly|parser.ParseComments)
		dir := filepath.ToSlash(filepath.Dir(path))
		if documented[dir] == nil {
			documented[dir] = []string{}
		}
		if file.Doc == nil {
			continue
		}
		documented[dir] = append(documented[dir], path)
		want := "Package " + file.Name.Name + " "
		if file.Name.Name == "main" {
			want = "Command " + filepath.Base(dir) + " "
		}
		if text := file.Doc.Text(); !strings.HasPrefix(text, want) {
			t.Errorf("%s: the package comment begins %q, want %q", path, text[:min(len(text), 30)], want)
		}
	}
	for dir, files := range documented {
		if len(files) != 1 {
			t.Errorf("%s: its package comment is in %q, want exactly one", dir, files)
		}
	}
}

func TestFormatted(t *testing.T) {
	for _, path := range sourceFiles(t, isGo) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		formatted, err := format.Source(data)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if !bytes.Equal(data, formatted) {
			t.Errorf("%s is not formatted; run gofmt -s -w", path)
		}
	}
}

// TestNoInit: what runs before main cannot be chosen, ordered or tested.
func TestNoInit(t *testing.T) {
	for _, path := range sourceFiles(t, isGo) {
		set, file := parseFile(t, path, parser.SkipObjectResolution)
		for _, declaration := range file.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok && function.Recv == nil && function.Name.Name == "init" {
				t.Errorf("%s: func init", set.Position(function.Pos()))
			}
		}
	}
}

// TestToolDescriptions: what a model is told of a tool is a text of its own
// beside the code.
func TestToolDescriptions(t *testing.T) {
	found := 0
	for _, path := range sourceFiles(t, func(path string) bool { return isShipped(path) && !strings.HasPrefix(path, ".ci/") }) {
		_, file := parseFile(t, path, parser.SkipObjectResolution)
		for _, declaration := range file.Decls {
			method, ok := declaration.(*ast.FuncDecl)
			if !ok || method.Recv == nil || method.Name.Name != "Definition" || method.Type.Params.NumFields() > 0 {
				continue
			}
			found++
			text, err := os.ReadFile(strings.TrimSuffix(path, ".go") + ".md")
			if err != nil {
				t.Errorf("%s defines a tool without a description beside it: %v", path, err)
			} else if len(bytes.TrimSpace(text)) < 100 {
				t.Errorf("the description of the tool in %s says too little: %q", path, text)
			}
		}
	}
	if found == 0 {
		t.Error("no tool was found")
	}
}

// forbidden are words that have no place in a finished project: marks of
// unfinished work, and paths and papers that a reader does not have. They are
// written in pieces so that this file does not hold them.
var forbidden = []*regexp.Regexp{
	regexp.MustCompile(`\bTO` + `DO\b`),
	regexp.MustCompile(`\bFIX` + `ME\b`),
	regexp.MustCompile(`\bXX` + `X\b`),
	regexp.MustCompile(`\bHA` + `CK\b`),
	regexp.MustCompile(`/wo` + `rk/(main|shared)`),
	regexp.MustCompile(`\b(DES` + `IGN|FIELD-REP` + `ORTS|SPA` + `RES|STY` + `LE)\.md\b`),
	regexp.MustCompile(`(?i)\bissue\s+#?\d`),
}

func TestForbiddenWords(t *testing.T) {
	for _, path := range sourceFiles(t, func(path string) bool { return path != "go.sum" }) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(data) {
			continue // Recorded bytes of a test.
		}
		for number, line := range bytes.Split(data, []byte("\n")) {
			for _, word := range forbidden {
				if found := word.Find(line); found != nil {
					t.Errorf("%s:%d: %q", path, number+1, found)
				}
			}
		}
	}
}
