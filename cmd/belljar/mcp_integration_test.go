//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCP serves clients of another make with the built program, in real
// containers.
func TestMCP(t *testing.T) {
	p := newProgram(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *program)
	}{
		{"Tools", testMCPTools},
		{"Cancel", testMCPCancel},
		{"HangUp", testMCPHangUp},
		{"Killed", testMCPKilled},
		{"NoEngine", testMCPNoEngine},
		{"HTTP", testMCPHTTP},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, p) })
	}
}

// An mcpServer is a program that serves MCP, with the client that started it.
type mcpServer struct {
	*sdk.ClientSession
	cmd    *exec.Cmd
	input  io.WriteCloser
	stderr *bytes.Buffer // read it when the program has ended
	told   chan string   // messages of progress
}

// serveMCP starts belljar mcp and connects to it.
func (p *program) serveMCP(t *testing.T, dir string, args ...string) *mcpServer {
	t.Helper()
	return connectMCP(t, p.command(t, dir, append([]string{"mcp"}, args...)...))
}

func connectMCP(t *testing.T, cmd *exec.Cmd) *mcpServer {
	t.Helper()
	s := &mcpServer{cmd: cmd, stderr: &bytes.Buffer{}, told: make(chan string, 1000)}
	cmd.Stderr = s.stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.input = input
	s.ClientSession, err = sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) { s.told <- req.Params.Message },
	}).Connect(t.Context(), &sdk.IOTransport{Reader: output, Writer: input}, nil)
	if err != nil {
		t.Fatalf("connecting: %v\n%s", err, s.stderr)
	}
	t.Cleanup(func() { s.hangUp() })
	return s
}

// hangUp closes the program's input and gives its exit code.
func (s *mcpServer) hangUp() int {
	_ = s.input.Close()
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

// call calls a tool and gives the text of its result.
func callMCP(t *testing.T, client *sdk.ClientSession, name string, args map[string]any) (text string, isError bool) {
	t.Helper()
	result, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("calling %s: %v", name, err)
	}
	for _, part := range result.Content {
		if piece, ok := part.(*sdk.TextContent); ok {
			text += piece.Text
		}
	}
	return text, result.IsError
}

func bashMCP(t *testing.T, client *sdk.ClientSession, script string) string {
	t.Helper()
	text, _ := callMCP(t, client, "bash", map[string]any{"command": script})
	return text
}

// theContainer is the one that the program made.
func (s *mcpServer) theContainer(t *testing.T, p *program) container.Summary {
	t.Helper()
	list := p.containersOf(t, s.cmd.Process.Pid)
	if len(list) != 1 {
		t.Fatalf("%d containers, want 1", len(list))
	}
	return list[0]
}

func testMCPTools(t *testing.T, p *program) {
	dir := t.TempDir()
	config := filepath.Join(t.TempDir(), "config.json")
	own := `{"tools": [{"name": "count_words", "description": "Counts words.", "effect": "read", "command": ["sh", "-c", "wc -w < a.txt"]}]}`
	if err := os.WriteFile(config, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	s := p.serveMCP(t, dir, "--config", config)
	listed, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.containersOf(t, s.cmd.Process.Pid)) != 0 {
		t.Error("there is a container before the first call")
	}
	// The tools of a run, and the user's own.
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	if got, want := strings.Join(names, " "), "apply_patch bash bash_kill bash_output count_words edit_file glob grep read_file write_file"; got != want {
		t.Errorf("tools %s, want %s", got, want)
	}
	for _, step := range []struct {
		tool string
		args map[string]any
		want string
		fail bool
	}{
		{"write_file", map[string]any{"path": "a.txt", "content": "one\n"}, "a.txt", false},
		{"bash", map[string]any{"command": "cat a.txt; mkdir sub; cd sub"}, "one\n", false},
		{"bash", map[string]any{"command": "pwd; exit 4"}, "/workspace/sub\n[exit code 4]", false},
		{"count_words", map[string]any{}, "1", false},
		{"edit_file", map[string]any{"path": "a.txt", "old_text": "one", "new_text": "two"}, "+two", false},
		{"read_file", map[string]any{"path": "/workspace/a.txt"}, "two", false},
		{"grep", map[string]any{"pattern": "two"}, "a.txt", false},
		{"bash", map[string]any{"command": "rm -rf /workspace"}, "--guard=false", true},
		{"bash", map[string]any{"command": "sleep 100", "background": true}, "job1", false},
		{"bash_kill", map[string]any{"job": "job1"}, "job1", false},
		{"read_file", map[string]any{"path": "/etc/shadow"}, "", true},
	} {
		text, failed := callMCP(t, s.ClientSession, step.tool, step.args)
		if !strings.Contains(text, step.want) || failed != step.fail {
			t.Errorf("%s %v: %q (error: %t)", step.tool, step.args, text, failed)
		}
	}
	if content, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(content) != "two\n" {
		t.Errorf("a.txt: %q, %v", content, err)
	}
	made := s.theContainer(t, p)
	if code := s.hangUp(); code != 0 || s.stderr.Len() > 0 {
		t.Errorf("exit code %d, stderr %q", code, s.stderr)
	}
	p.wantGone(t, made.ID, 0)
}

func testMCPCancel(t *testing.T, p *program) {
	s := p.serveMCP(t, "")
	bashMCP(t, s.ClientSession, "true")
	ctx, cancel := context.WithCancel(t.Context())
	params := &sdk.CallToolParams{Name: "bash", Arguments: map[string]any{"command": "setsid sleep 1234 & echo going; sleep 1234"}}
	params.SetProgressToken(1)
	ended := make(chan error, 1) // one end
	go func() {
		_, err := s.CallTool(ctx, params)
		ended <- err
	}()
	for message := range s.told {
		if message == "going" {
			break
		}
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("the canceled call has a result")
	}
	if text := bashMCP(t, s.ClientSession, "pgrep -c -f 'sleep 123[4]'"); !strings.HasPrefix(text, "0\n") {
		t.Errorf("processes of the canceled command: %q", text)
	}
}

func testMCPHangUp(t *testing.T, p *program) {
	s := p.serveMCP(t, "")
	bashMCP(t, s.ClientSession, "echo 'int x;' > made")
	made := s.theContainer(t, p)
	go s.CallTool(t.Context(), &sdk.CallToolParams{Name: "bash", Arguments: map[string]any{"command": "touch going; sleep 1234"}})
	waitForFile(t, filepath.Join(s.cmd.Dir, "going"))
	begun := time.Now()
	if code := s.hangUp(); code != 0 {
		t.Errorf("exit code %d: %s", code, s.stderr)
	}
	if took := time.Since(begun); took > hang {
		t.Errorf("the end took %s", took)
	}
	p.wantGone(t, made.ID, 0)
}

// waitForFile waits for a sign of what runs beside the test.
func waitForFile(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(hang); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s never came", path)
		}
	}
}

func testMCPKilled(t *testing.T, p *program) {
	s := p.serveMCP(t, "")
	bashMCP(t, s.ClientSession, "true")
	made := s.theContainer(t, p)
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wantGone(t, made.ID, hang)
}

func testMCPNoEngine(t *testing.T, p *program) {
	cmd := p.command(t, "", "mcp", "--host", "unix://"+filepath.Join(t.TempDir(), "nothing.sock"))
	s := connectMCP(t, cmd)
	text, failed := callMCP(t, s.ClientSession, "bash", map[string]any{"command": "true"})
	if !failed || !strings.Contains(text, "nothing.sock") {
		t.Errorf("the call without an engine: %q (error: %t)", text, failed)
	}
	if code := s.hangUp(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// A bearing adds the token to requests.
type bearing struct {
	token string
	http.RoundTripper
}

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.RoundTripper.RoundTrip(r)
}

func testMCPHTTP(t *testing.T, p *program) {
	cmd := p.command(t, "", "mcp", "--listen", "127.0.0.1:0", "--max-sessions", "2")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	find := func(pattern string) string {
		for {
			line, err := lines.ReadString('\n')
			if found := regexp.MustCompile(pattern).FindStringSubmatch(line); found != nil {
				return found[1]
			}
			if err != nil {
				t.Fatalf("nothing like %s on stderr: %v", pattern, err)
			}
		}
	}
	token := find(`Authorization: Bearer (\S+)`)
	url := find(`(http://\S+/mcp)`)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	connect := func(token string) (*sdk.ClientSession, error) {
		return sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
			Endpoint: url, MaxRetries: -1, HTTPClient: &http.Client{Transport: bearing{token, transport}},
		}, nil)
	}
	if _, err := connect("another"); err == nil {
		t.Error("a client with another token came in")
	}
	var clients []*sdk.ClientSession
	for range 2 {
		client, err := connect(token)
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, client)
	}
	if _, err := connect(token); err == nil {
		t.Error("a third client came in")
	}
	bashMCP(t, clients[0], "echo first > /tmp/mark")
	if text := bashMCP(t, clients[1], "cat /tmp/mark"); strings.Contains(text, "first") {
		t.Errorf("the second client sees the sandbox of the first: %q", text)
	}
	made := p.containersOf(t, cmd.Process.Pid)
	if len(made) != 2 {
		t.Fatalf("%d containers, want 2", len(made))
	}
	if err := clients[0].Close(); err != nil {
		t.Error(err)
	}
	for end := time.Now().Add(hang); len(p.containersOf(t, cmd.Process.Pid)) != 1; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the sandbox of the client that went stays")
		}
	}
	if text := bashMCP(t, clients[1], "echo still here"); !strings.HasPrefix(text, "still here\n") {
		t.Errorf("the other client: %q", text)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(lines)
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != exitTerminated || !bytes.Contains(rest, []byte("SIGTERM")) {
		t.Errorf("exit code %d, stderr %q", cmd.ProcessState.ExitCode(), rest)
	}
	for _, c := range made {
		p.wantGone(t, c.ID, 0)
	}
}
