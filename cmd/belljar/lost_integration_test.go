//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// lostAnswers make something inside and outside the workspace, meet the loss
// of the sandbox and look at what is left.
const lostAnswers = `turns:
  - tool_calls:
      - {name: bash, arguments: {command: "echo kept >kept; echo kept >/tmp/kept; mkdir -p sub; cd sub"}}
  - tool_calls:
      - {name: bash, arguments: {command: "echo begun; touch ../begun; sleep 300; echo never"}}
  - tool_calls:
      - {name: bash, arguments: {command: "pwd; cat ../kept; cat /tmp/kept || echo no such file"}}
  - text: Done.
`

// testProgramLost takes the container of a run away while a command runs.
func testProgramLost(t *testing.T, p *program) {
	for _, test := range []struct {
		policy         string
		code           int
		stdout, stderr []string
		not            string
	}{
		{
			policy: onLostRecreate, stdout: []string{"Done."},
			stderr: []string{
				"belljar: the sandbox was lost, and a new one stands over the same workspace (1 of at most 3): ",
				"✗ lost", "│ begun", "│ [the sandbox was lost", "│ [gone are all processes, /tmp",
				"│ /workspace/sub", "│ kept", "│ no such file",
			},
			not: "never",
		},
		{policy: onLostStop, code: exitFailure, stderr: []string{"sandbox is lost"}, not: "no such file"},
	} {
		t.Run(test.policy, func(t *testing.T) {
			dir, answers := t.TempDir(), filepath.Join(t.TempDir(), "answers.yaml")
			if err := os.WriteFile(answers, []byte(lostAnswers), 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := p.command(t, dir, "run", "--on-lost", test.policy, "--model", "script:"+answers, "go on")
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			p.killDuring(t, cmd.Process.Pid, filepath.Join(dir, "begun"))
			_ = cmd.Wait() // a code that is not 0 is an error; it is looked at below
			if code := cmd.ProcessState.ExitCode(); code != test.code {
				t.Errorf("exit code %d, want %d; stderr:\n%s", code, test.code, &stderr)
			}
			for text, wants := range map[string][]string{stdout.String(): test.stdout, stderr.String(): test.stderr} {
				for _, want := range wants {
					if !strings.Contains(text, want) {
						t.Errorf("nothing says %q in\n%s", want, text)
					}
				}
			}
			if strings.Contains(stderr.String(), "│ "+test.not) {
				t.Errorf("%q is in\n%s", test.not, &stderr)
			}
			if left := p.containersOf(t, cmd.Process.Pid); len(left) > 0 {
				t.Errorf("%d containers are left", len(left))
			}
		})
	}
}

// killDuring kills the container of a process once a file is there.
func (p *program) killDuring(t *testing.T, pid int, file string) {
	t.Helper()
	for end := time.Now().Add(hang); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%s never came", file)
		}
	}
	list := p.containersOf(t, pid)
	if len(list) != 1 {
		t.Fatalf("%d containers belong to the process, want 1", len(list))
	}
	if err := p.seen.ContainerKill(t.Context(), list[0].ID, "KILL"); err != nil {
		t.Fatal(err)
	}
}
