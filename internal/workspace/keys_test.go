package workspace_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/workspace"
)

func TestKeyFiles(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	put(t, filepath.Join(home, ".config", "gh", "hosts.yml"), "")
	put(t, filepath.Join(home, ".config", "other"), "")
	put(t, filepath.Join(home, ".npmrc"), "")
	want := []string{filepath.Join(home, ".config", "gh"), filepath.Join(home, ".npmrc")}
	if diff := cmp.Diff(want, workspace.KeyFiles()); diff != "" {
		t.Error(diff)
	}
}
