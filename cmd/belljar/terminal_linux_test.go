package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mattn/go-runewidth"
	"golang.org/x/sys/unix"
)

// openTerminal makes a pseudo-terminal of 80 columns and returns both ends.
func openTerminal(t *testing.T) (screen, terminal *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	return screen, terminal
}

// onTerminal runs belljar on a terminal of 80 columns and gives what reached
// the screen.
func onTerminal(t *testing.T, env []string, args ...string) string {
	t.Helper()
	screen, terminal := openTerminal(t)
	cmd := exec.CommandContext(t.Context(), "belljar", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "BELLJAR_STATE_DIR="+filepath.Join(home, "state"), "TERM=xterm", "NO_COLOR=")
	cmd.Env = append(cmd.Env, env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	var shown bytes.Buffer
	// The last holder of the other end being gone reads as EIO.
	if _, err := io.Copy(&shown, screen); err != nil && !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("belljar: %v\n%s", err, shown.String())
	}
	return shown.String()
}

// answers is a script whose last answer is awkward on a terminal.
const answers = `turns:
  - text: I run it.
    tool_calls:
      - {name: bash, arguments: {command: "printf 'a\\033[2Jb\\033]0;title\\007\\n'; echo 中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文"}}
  - text: "The \e[2Jlast word."
`

func TestRunOnTerminal(t *testing.T) {
	script := filepath.Join(t.TempDir(), "answers.yaml")
	if err := os.WriteFile(script, []byte(answers), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		env   []string
		color bool
	}{
		{"colours", nil, true},
		{"NO_COLOR", []string{"NO_COLOR=1"}, false},
		{"dumb", []string{"TERM=dumb"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			shown := onTerminal(t, test.env, "run", "-w", t.TempDir(), "--model", "script:"+script, "go")
			if count := strings.Count(shown, "last word."); count != 1 {
				t.Errorf("the answer is shown %d times:\n%s", count, shown)
			}
			for _, evil := range []string{"\x1b[2J", "\x1b]", "\a"} {
				if strings.Contains(shown, evil) {
					t.Errorf("%q reached the screen:\n%q", evil, shown)
				}
			}
			if colored := strings.Contains(shown, "\x1b[3"); colored != test.color {
				t.Errorf("colours: %v, want %v:\n%q", colored, test.color, shown)
			}
			checkWidth(t, shown)
		})
	}
}

// checkWidth asserts that no line of tool output is wider than the terminal.
func checkWidth(t *testing.T, shown string) {
	t.Helper()
	measure := runewidth.Condition{StrictEmojiNeutral: true}
	found := false
	for line := range strings.Lines(shown) {
		if !strings.Contains(line, "中文") {
			continue
		}
		found = true
		plain := line
		for _, sequence := range []string{"\x1b[0m", "\x1b[2m", "\x1b[36m", "\r", "\n"} {
			plain = strings.ReplaceAll(plain, sequence, "")
		}
		if width := measure.StringWidth(plain); width > 80 {
			t.Errorf("a line has %d columns: %q", width, line)
		}
	}
	if !found {
		t.Errorf("the output of the command is not shown:\n%s", shown)
	}
}
