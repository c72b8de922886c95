package search_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belljar/belljar/internal/search"
	"github.com/belljar/belljar/internal/workspace"
)

// benchFiles is the number of files of the tree that is measured.
const benchFiles = 50_000

// largeTree makes files of source code's size, 0 to 6 KB, in folders of ten,
// some of them ignored. One in a thousand holds the needle.
func largeTree(b *testing.B) (*workspace.Workspace, string) {
	b.Helper()
	w, dir := newSpace(b)
	random := rand.New(rand.NewPCG(1, 1))
	words := strings.Fields("func return if err != nil { } type struct string int for range := package import ( ) // the a of to value result context")
	for at := range benchFiles {
		parent := filepath.Join(dir, fmt.Sprintf("p%02d", at/2500), fmt.Sprintf("m%02d", at/100%25), fmt.Sprintf("d%d", at/10%10))
		if at%10 == 0 {
			if err := os.MkdirAll(parent, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		var text strings.Builder
		for size := random.IntN(6000); text.Len() < size; {
			for range random.IntN(12) {
				text.WriteString(words[random.IntN(len(words))] + " ")
			}
			text.WriteByte('\n')
		}
		if random.IntN(1000) == 0 {
			text.WriteString("func needleHandler(ctx) {\n")
		}
		if err := os.WriteFile(filepath.Join(parent, fmt.Sprintf("file%d.go", at)), []byte(text.String()), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	put(b, dir, ".gitignore", "*.log\n/build/\n")
	return w, dir
}

// peer measures another program on the same tree, where it is there.
func peer(b *testing.B, dir, name string, args ...string) {
	b.Run(name, func(b *testing.B) {
		if _, err := exec.LookPath(name); err != nil {
			b.Skipf("%s is not here to compare with: %v", name, err)
		}
		for b.Loop() {
			cmd := exec.CommandContext(b.Context(), name, args...)
			cmd.Dir, cmd.Stdout = dir, io.Discard
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkGrep(b *testing.B) {
	w, dir := largeTree(b)
	for _, bench := range []struct{ name, pattern string }{
		{"literal", "needleHandler"},
		{"expression", `func \w+Handler\(`},
		{"without text", `\w+[Hh]a[a-z]+er\(\w+\)`},
		{"case", "(?i)NEEDLEhandler"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.Run("belljar", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					m := grep(b, w, search.GrepOptions{
						Pattern: pattern(b, bench.pattern), Limit: 1000, FileLimit: 50, Bytes: 1 << 20, LineBytes: 400,
					})
					if len(m.Files) == 0 || m.Searched < benchFiles {
						b.Fatalf("%d files match of %d", len(m.Files), m.Searched)
					}
				}
			})
			peer(b, dir, "rg", "--no-config", "--hidden", "-g", "!.git", "-n", "-e", bench.pattern)
			if text, fold := strings.CutPrefix(bench.pattern, "(?i)"); fold {
				peer(b, dir, "grep", "-rniE", "--", text, ".")
			} else {
				peer(b, dir, "grep", "-rnE", "--", text, ".")
			}
		})
	}
}

func BenchmarkFind(b *testing.B) {
	w, dir := largeTree(b)
	b.Run("belljar", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			l, err := search.Find(b.Context(), w, search.GlobOptions{Pattern: "**/*.go", Limit: 100})
			if err != nil || l.Total != benchFiles {
				b.Fatalf("%d files, %v", l.Total, err)
			}
		}
	})
	peer(b, dir, "rg", "--no-config", "--hidden", "-g", "!.git", "--files")
	peer(b, dir, "find", ".", "-name", "*.go")
}
