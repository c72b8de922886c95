package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestProgramIsCalledAsItCanBe(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "belljar")
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "my jar")
	if err := os.Link(path, other); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, called, path, want string }{
		{"by its name", "belljar", "", "belljar"},
		{"by a path that PATH finds", path, dir, "belljar"},
		{"by a path that PATH does not find", path, "", path},
		{"by a path with a space", other, "", "'" + other + "'"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("PATH", test.path)
			if got := (&app{called: test.called}).program(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestShellWord(t *testing.T) {
	for text, want := range map[string]string{"/a/b-1.c": "/a/b-1.c", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'"} {
		if got := shellWord(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
