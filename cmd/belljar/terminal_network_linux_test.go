package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A screenReader gathers what reaches a screen.
type screenReader struct {
	mu    sync.Mutex
	shown bytes.Buffer
	ended chan struct{} // closed when the last holder of the terminal is gone
}

func readScreen(screen io.Reader) *screenReader {
	s := &screenReader{ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		_, _ = io.Copy(s, screen) // the end reads as an error
	}()
	return s
}

func (s *screenReader) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.Write(p)
}

func (s *screenReader) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String()
}

// await waits until a text is on the screen.
func (s *screenReader) await(t *testing.T, text string) {
	t.Helper()
	s.awaitCount(t, text, 1)
}

// awaitCount waits until a text is on the screen so many times.
func (s *screenReader) awaitCount(t *testing.T, text string, count int) {
	t.Helper()
	for end := time.Now().Add(scriptTimeout); strings.Count(s.String(), text) < count; time.Sleep(10 * time.Millisecond) {
		select {
		case <-s.ended:
			if strings.Count(s.String(), text) >= count {
				return
			}
			t.Fatalf("%q never came; the screen showed\n%s", text, s.String())
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("%q never came; the screen shows\n%s", text, s.String())
		}
	}
}

// TestTerminalAsks answers questions about hosts at a terminal.
func TestTerminalAsks(t *testing.T) {
	const ask = `ask() {
	exec 3<>/dev/tcp/127.0.0.1/${HTTP_PROXY##*:}
	printf 'CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n' "$1" >&3
	read -r _ code _ <&3
	echo "$1 gave $code"
}
for host in granted.invalid:9 denied.invalid:9 denied.invalid:9 10.0.0.1:80; do ask $host; done
`
	dir := t.TempDir()
	task := filepath.Join(dir, "run.yaml")
	turns := "turns:\n  - tool_calls:\n      - {name: bash, arguments: {command: \"bash ask\"}}\n  - text: Done.\n"
	for name, text := range map[string]string{task: turns, filepath.Join(dir, "ask"): ask} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, args := range map[string][]string{
		"exec": {"exec", "-w", dir, "--network", "allow", "--", "bash", "ask"},
		"run":  {"run", "-w", dir, "--network", "allow", "--model", "script:" + task, "go"},
	} {
		t.Run(name, func(t *testing.T) {
			screen, terminal := openTerminal(t)
			cmd := exec.CommandContext(t.Context(), "belljar", args...)
			startOn(t, cmd, terminal)
			shown := readScreen(screen)
			shown.await(t, "granted.invalid:9; allow it for this run? [y/N]")
			if _, err := io.WriteString(screen, "y\n"); err != nil {
				t.Fatal(err)
			}
			shown.await(t, "denied.invalid:9; allow it for this run? [y/N]")
			if _, err := io.WriteString(screen, "\n"); err != nil {
				t.Fatal(err)
			}
			<-shown.ended
			if err := cmd.Wait(); err != nil {
				t.Errorf("belljar: %v\n%s", err, shown)
			}
			text := shown.String()
			for want, count := range map[string]int{
				"[y/N]": 2, "granted.invalid:9 gave 502": 1, "denied.invalid:9 gave 403": 2, "10.0.0.1:80 gave 403": 1,
				"network: denied.invalid:9 was denied": 1,
			} {
				if got := strings.Count(text, want); got != count {
					t.Errorf("%q is shown %d times, want %d:\n%s", want, got, count, text)
				}
			}
		})
	}
}

// startOn starts a belljar in the foreground of a terminal: only who runs there
// may read from it. The terminal is the belljar's alone from then on.
func startOn(t *testing.T, cmd *exec.Cmd, terminal *os.File) {
	t.Helper()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "BELLJAR_STATE_DIR="+filepath.Join(home, "state"), "TERM=xterm", "NO_COLOR=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
}

// TestTerminalQuestionHoldsNothingUp: a command that ends while a question
// stands ends belljar as well, with all of its output.
func TestTerminalQuestionHoldsNothingUp(t *testing.T) {
	const script = `(exec 3<>/dev/tcp/127.0.0.1/${HTTP_PROXY##*:}; printf 'CONNECT asked.invalid:9 HTTP/1.1\r\nHost: x\r\n\r\n' >&3; read -r _ <&3) &
until [ -e stands ]; do sleep 0.05; done
for i in 1 2 3; do echo "line $i"; done
echo "last line" >&2
exit 3`
	dir := t.TempDir()
	screen, terminal := openTerminal(t)
	cmd := exec.CommandContext(t.Context(), "belljar", "exec", "-w", dir, "--network", "allow", "--", "bash", "-c", script)
	startOn(t, cmd, terminal)
	shown := readScreen(screen)
	shown.await(t, "asked.invalid:9; allow it for this run? [y/N]")
	start := time.Now()
	if err := os.WriteFile(filepath.Join(dir, "stands"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	<-shown.ended
	if took := time.Since(start); took > askTime/2 {
		t.Errorf("the end took %v", took)
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("the exit code is %d, want 3", cmd.ProcessState.ExitCode())
	}
	if _, after, _ := strings.Cut(shown.String(), "[y/N]"); !strings.Contains(strings.ReplaceAll(after, "\r", ""), "\nline 1\nline 2\nline 3\nlast line\n") {
		t.Errorf("output is missing:\n%s", shown)
	}
}
