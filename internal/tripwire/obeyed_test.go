package tripwire_test

import (
	"testing"

	"github.com/belljar/belljar/internal/tripwire"
)

func TestObeyedBy(t *testing.T) {
	for path, want := range map[string]string{
		".envrc": "environment managers", "/workspace/.envrc": "environment managers", "sub/.npmrc": "package managers", ".github/workflows/ci.yml": "continuous integration",
		"a/.vscode/tasks.json": "editors", ".git/config": "git", "./.git": "git", "sub/.git/hooks/pre-commit": "git", "x.code-workspace": "editors",
		".hg/hgrc": "mercurial", ".yarn/releases/yarn.cjs": "package managers", "a/../AGENTS.md": "agents",
		"": "", ".": "", "main.go": "", "Makefile": "", "github/x": "", "envrc": "", ".yarn/cache/x": "", ".hg/store": "", "a/.github": "", ".gitignore": "",
	} {
		if by, ok := tripwire.ObeyedBy(path); by != want || ok != (want != "") {
			t.Errorf("%q is obeyed by %q (%v), want %q", path, by, ok, want)
		}
	}
}
