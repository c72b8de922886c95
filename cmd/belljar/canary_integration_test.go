//go:build linux

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// testCanary puts secrets into belljar's environment and looks for them
// wherever a sandbox or a reader of the session could.
func testCanary(t *testing.T, p *program) {
	const key, other = "sk-canary-0123456789abcdef", "canary-of-another-name-4711"
	const look = `env; for f in /proc/*/environ /proc/*/cmdline; do tr '\0' '\n' <$f; done 2>/dev/null; cat /proc/*/task/*/environ 2>/dev/null; :`
	dir, state := t.TempDir(), filepath.Join(t.TempDir(), "state")
	answers := filepath.Join(t.TempDir(), "answers.yaml")
	model := "turns:\n  - tool_calls:\n      - name: bash\n        arguments:\n          command: |\n            " + look +
		"\n  - tool_calls:\n      - {name: write_file, arguments: {path: made, content: \"x\\n\"}}\n  - text: Done.\n"
	if err := os.WriteFile(answers, []byte(model), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"exec", "-c", look},
		{"exec", "--json", "-c", look},
		{"exec", "--", "env"},
		{"run", "--model", "script:" + answers, "Look at the environment"},
		{"run", "--json", "--model", "script:" + answers, "Look at the environment"},
	} {
		t.Run(strings.Join(args[:2], " "), func(t *testing.T) {
			cmd := p.command(t, dir, args...)
			cmd.Env = append(cmd.Env, "OPENAI_API_KEY="+key, "SOME_OTHER_NAME="+other, "BELLJAR_STATE_DIR="+state)
			got := run(t, cmd)
			if got.code != 0 {
				t.Fatalf("exit code %d: %s", got.code, got.stderr)
			}
			text := got.stdout + got.stderr
			if args[0] == "exec" && !strings.Contains(text, "LOGNAME=belljar") {
				t.Errorf("no environment was shown, so nothing was looked at: %s", text)
			}
			for _, secret := range []string{key, other} {
				if strings.Contains(text, secret) {
					t.Errorf("%s is in the output", secret)
				}
			}
		})
	}
	checkRecord(t, state, []string{key, other}, "LOGNAME=belljar")
}

// checkRecord asserts that no file of the sessions holds a secret, and that
// some file holds what shows that the environment was on record.
func checkRecord(t *testing.T, dir string, secrets []string, shown string) {
	t.Helper()
	seen := false
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		seen = seen || strings.Contains(string(text), shown)
		for _, secret := range secrets {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s is in %s", secret, path)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if !seen {
		t.Error("no session holds the environment that was shown")
	}
}
