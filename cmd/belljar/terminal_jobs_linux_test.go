package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestTerminalBackground sends belljar into the background after a question: it
// goes on there, since it reads nothing from the terminal any more.
func TestTerminalBackground(t *testing.T) {
	dir := t.TempDir()
	const ask = `exec 3<>/dev/tcp/127.0.0.1/${HTTP_PROXY##*:}
printf 'CONNECT granted.invalid:9 HTTP/1.1\r\nHost: x\r\n\r\n' >&3
read -r _ code _ <&3
echo "gave $code"
until test -e go; do sleep 0.1; done
echo "it went on"
`
	if err := os.WriteFile(filepath.Join(dir, "ask"), []byte(ask), 0o644); err != nil {
		t.Fatal(err)
	}
	screen, terminal := openTerminal(t)
	shell := exec.CommandContext(t.Context(), "bash", "--norc", "--noprofile", "-i")
	shell.Stdin, shell.Stdout, shell.Stderr = terminal, terminal, terminal
	home := t.TempDir()
	shell.Env = append(os.Environ(), "HOME="+home, "BELLJAR_STATE_DIR="+filepath.Join(home, "state"), "TERM=xterm", "PS1=prompt> ")
	shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	shown := readScreen(screen)
	say := func(text string) {
		if _, err := io.WriteString(screen, text); err != nil {
			t.Fatal(err)
		}
	}
	shown.await(t, "prompt> ")
	say("belljar exec -w " + dir + " --network allow -- bash ask\n")
	shown.await(t, "granted.invalid:9; allow it for this run? [y/N]")
	say("y\n")
	shown.await(t, "gave 502")
	say("\x1a")
	shown.await(t, "Stopped")
	say("bg\n")
	shown.await(t, "&")
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	shown.await(t, "it went on")
	say("wait; echo status $?; exit\n")
	shown.await(t, "status 0")
	<-shown.ended
	if err := shell.Wait(); err != nil {
		t.Errorf("the shell: %v", err)
	}
	if text := shown.String(); strings.Contains(text, "tty input") {
		t.Errorf("it was stopped for reading:\n%s", text)
	}
}
