package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadTask(t *testing.T) {
	file := filepath.Join(t.TempDir(), "task.md")
	if err := os.WriteFile(file, []byte("from the file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		args  []string
		file  string
		stdin string
		want  string
		fails string // a piece of the error
	}{
		{name: "argument", args: []string{"do it"}, want: "do it"},
		{name: "file", file: file, want: "from the file\n"},
		{name: "stdin by flag", file: "-", stdin: "from stdin", want: "from stdin"},
		{name: "stdin by argument", args: []string{"-"}, stdin: "from stdin", want: "from stdin"},
		{name: "none", fails: "there is no task"},
		{name: "unquoted", args: []string{"do", "it"}, fails: "quotes"},
		{name: "twice", args: []string{"x"}, file: file, fails: "twice"},
		{name: "missing file", file: file + ".none", fails: "no such file"},
		{name: "empty", args: []string{" \n"}, fails: "empty"},
		{name: "empty stdin", file: "-", fails: "empty"},
		{name: "too long", file: "-", stdin: strings.Repeat("x", maxTask+1), fails: "longer than 1 MiB"},
		{name: "not text", args: []string{"a\xff"}, fails: "UTF-8"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := &app{stdin: strings.NewReader(test.stdin)}
			got, err := a.readTask(test.args, test.file)
			if test.fails == "" {
				if err != nil || got != test.want {
					t.Errorf("task %q, %v, want %q", got, err, test.want)
				}
				return
			}
			var usage *usageError
			if !errors.As(err, &usage) || !strings.Contains(err.Error(), test.fails) {
				t.Errorf("error %v, want a usage error with %q", err, test.fails)
			}
		})
	}
}
