package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/belljar/belljar/internal/leaktest"
	"github.com/belljar/belljar/internal/mcp"
	"github.com/belljar/belljar/tools"
)

// patience tells a hang from an end.
const patience = 30 * time.Second

// A host is one whose calls do what their arguments say.
type host struct {
	running chan string   // gets the text of calls that wait
	ended   chan string   // gets it when they were told to end
	gate    chan struct{} // lets a call go by
	closed  chan struct{}
	once    sync.Once
	slow    time.Duration // how long the close takes
}

func newHost() *host {
	return &host{
		running: make(chan string, 100), ended: make(chan string, 100), // more than any test makes
		gate: make(chan struct{}), closed: make(chan struct{}),
	}
}

func (h *host) Call(ctx context.Context, call mcp.Call) (tools.Result, error) {
	var in struct{ Do, Text string }
	if err := json.Unmarshal(call.Arguments, &in); err != nil {
		return tools.Result{}, err
	}
	switch in.Do {
	case "say":
		code := 3
		return tools.Result{Parts: []tools.Part{{Text: in.Text}}, Status: "exited", ExitCode: &code}, nil
	case "fail":
		return tools.Error(in.Text), nil
	case "gate":
		h.running <- in.Text
		select {
		case <-h.gate:
			return tools.Text("let go"), nil
		case <-ctx.Done():
			h.ended <- in.Text
			return tools.Text("canceled"), nil
		}
	case "draw":
		return tools.Result{Parts: []tools.Part{{Text: "a"}, {MediaType: "image/png", Data: []byte("png")}}}, nil
	case "break":
		return tools.Result{}, errors.New(in.Text)
	case "write":
		_, err := io.WriteString(call.Output, in.Text)
		h.running <- in.Text
		<-ctx.Done()
		return tools.Text("canceled"), err
	default:
		h.running <- in.Text
		<-ctx.Done()
		h.ended <- in.Text
		return tools.Text("canceled"), nil
	}
}

func (h *host) Close() error {
	h.once.Do(func() {
		time.Sleep(h.slow)
		close(h.closed)
	})
	return nil
}

// A starter starts hosts and remembers them.
type starter struct {
	mu    sync.Mutex
	hosts []*host
	fail  error         // what the next start fails with
	slow  time.Duration // how long closes take
}

func (s *starter) start(context.Context) (mcp.Host, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fail; err != nil {
		s.fail = nil
		return nil, err
	}
	made := newHost()
	made.slow = s.slow
	s.hosts = append(s.hosts, made)
	return s.hosts[len(s.hosts)-1], nil
}

// last is the host that was started last, count how many were.
func (s *starter) last() *host {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hosts[len(s.hosts)-1]
}

func (s *starter) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.hosts)
}

func options(s *starter) mcp.Options {
	def := func(name string, effect tools.Effect) tools.Definition {
		return tools.Definition{Name: name, Description: "does " + name, Effect: effect, Schema: &jsonschema.Schema{Type: "object"}}
	}
	return mcp.Options{
		Version: "v1", Instructions: "be careful", Start: s.start, Beside: []string{"watch"},
		Tools: []tools.Definition{def("look", tools.Read), def("put", tools.Write), def("run", tools.Execute), def("watch", tools.Read)},
	}
}

// connect serves one client over pipes. hangUp is the client's end of input, and
// ended gives what ServeStreams returned.
func connect(t *testing.T, ctx context.Context, opts mcp.Options, client *sdk.ClientOptions) (_ *sdk.ClientSession, hangUp func(), ended <-chan error) {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- mcp.New(opts).ServeStreams(ctx, toServer, fromServer)
		// As the end of a process does: a client may be about to write.
		toServer.Close()
		fromServer.Close()
	}()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, client).
		Connect(t.Context(), &sdk.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session, func() { fromClient.Close() }, done
}

// call calls a tool and gives its text.
func call(t *testing.T, client *sdk.ClientSession, do, text string) *sdk.CallToolResult {
	t.Helper()
	result, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "run", Arguments: map[string]any{"do": do, "text": text}})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func text(result *sdk.CallToolResult) string {
	var all []string
	for _, part := range result.Content {
		if text, ok := part.(*sdk.TextContent); ok {
			all = append(all, text.Text)
		} else {
			all = append(all, fmt.Sprintf("%T", part))
		}
	}
	return strings.Join(all, "|")
}

// wait waits for a channel.
func wait[T any](t *testing.T, ch <-chan T, what string) T {
	t.Helper()
	select {
	case value := <-ch:
		return value
	case <-time.After(patience):
		t.Fatalf("%s: nothing came", what)
		panic("unreachable")
	}
}

func TestToolsAreDescribed(t *testing.T) {
	leaktest.Check(t, 0)
	s := &starter{}
	client, hangUp, ended := connect(t, t.Context(), options(s), nil)
	listed, err := client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	yes, no := true, false
	want := map[string]*sdk.ToolAnnotations{
		"look":  {ReadOnlyHint: true, OpenWorldHint: &no},
		"put":   {DestructiveHint: &yes, OpenWorldHint: &no},
		"run":   {DestructiveHint: &yes, OpenWorldHint: &no},
		"watch": {ReadOnlyHint: true, OpenWorldHint: &no},
	}
	got := map[string]*sdk.ToolAnnotations{}
	for _, tool := range listed.Tools {
		got[tool.Name] = tool.Annotations
		if tool.Description != "does "+tool.Name {
			t.Errorf("%s: description %q", tool.Name, tool.Description)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if got := client.InitializeResult().Instructions; got != "be careful" {
		t.Errorf("instructions %q", got)
	}
	if n := s.count(); n != 0 {
		t.Errorf("%d hosts were started before the first call", n)
	}
	hangUp()
	if err := wait(t, ended, "the end"); err != nil {
		t.Error(err)
	}
}

func TestResults(t *testing.T) {
	s := &starter{}
	client, _, _ := connect(t, t.Context(), options(s), nil)
	tests := []struct {
		name, do, text, want string
		isError              bool
		meta                 map[string]any
	}{
		{"text with a status", "say", "hi", "hi", false, map[string]any{"belljar/status": "exited", "belljar/exit_code": 3.0}},
		{"broken UTF-8 is shown", "say", "a\xffb", "a\ufffdb", false, map[string]any{"belljar/status": "exited", "belljar/exit_code": 3.0}},
		{"an error for the model", "fail", "no", "no", true, nil},
		{"an image", "draw", "", "a|*mcp.ImageContent", false, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := call(t, client, test.do, test.text)
			if text(got) != test.want || got.IsError != test.isError {
				t.Errorf("got %q (error: %t), want %q (%t)", text(got), got.IsError, test.want, test.isError)
			}
			delete(got.Meta, sdk.MetaKeyServerInfo) // the library's own
			if len(got.Meta) == 0 {
				got.Meta = nil
			}
			if diff := cmp.Diff(test.meta, map[string]any(got.Meta)); diff != "" {
				t.Errorf("_meta (-want +got):\n%s", diff)
			}
			if got.StructuredContent != nil {
				t.Errorf("structured content %v would hide the text from some clients", got.StructuredContent)
			}
		})
	}
	if n := s.count(); n != 1 {
		t.Errorf("%d hosts, want one for the session", n)
	}
}

func TestStartThatFailsIsTriedAgain(t *testing.T) {
	s := &starter{fail: errors.New("no engine answers")}
	client, _, _ := connect(t, t.Context(), options(s), nil)
	if got := call(t, client, "say", "1"); !got.IsError || !strings.Contains(text(got), "no engine answers") {
		t.Errorf("the first call: %q (error: %t)", text(got), got.IsError)
	}
	if got := call(t, client, "say", "2"); text(got) != "2" {
		t.Errorf("the second call: %q", text(got))
	}
}

func TestHostThatBreaksIsReplaced(t *testing.T) {
	s := &starter{}
	client, _, _ := connect(t, t.Context(), options(s), nil)
	call(t, client, "say", "1")
	first := s.last()
	if got := call(t, client, "break", "engine died"); !got.IsError || !strings.Contains(text(got), "engine died") {
		t.Errorf("the call that met it: %q (error: %t)", text(got), got.IsError)
	}
	wait(t, first.closed, "the close of the broken host")
	if got := call(t, client, "say", "2"); text(got) != "2" {
		t.Errorf("the next call: %q", text(got))
	}
	if n := s.count(); n != 2 {
		t.Errorf("%d hosts were started, want 2", n)
	}
}

func TestEndsOfTheClient(t *testing.T) {
	tests := map[string]func(hangUp, interrupt func()){
		"it hangs up":        func(hangUp, _ func()) { hangUp() },
		"we are interrupted": func(_, interrupt func()) { interrupt() },
	}
	for name, end := range tests {
		t.Run(name, func(t *testing.T) {
			leaktest.Check(t, 1) // a read of the client's that nothing ends
			s := &starter{}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			client, hangUp, ended := connect(t, ctx, options(s), nil)
			call(t, client, "say", "1")
			go client.CallTool(t.Context(), &sdk.CallToolParams{Name: "run", Arguments: map[string]any{"do": "wait"}})
			wait(t, s.last().running, "the call")
			end(hangUp, cancel)
			_ = wait(t, ended, "the end")
			select {
			case <-s.last().closed:
			default:
				t.Error("the host is not closed")
			}
		})
	}
}

func TestProgress(t *testing.T) {
	s := &starter{}
	told := make(chan *sdk.ProgressNotificationParams, 16)
	client, _, _ := connect(t, t.Context(), options(s), &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) { told <- req.Params },
	})
	call(t, client, "say", "1")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	params := &sdk.CallToolParams{Name: "run", Arguments: map[string]any{"do": "write", "text": "first\nsec\x1b[1mond\n\n"}}
	params.SetProgressToken("mine")
	go client.CallTool(ctx, params)
	first, second := wait(t, told, "progress"), wait(t, told, "more progress")
	if first.ProgressToken != "mine" || first.Message != "second" {
		t.Errorf("token %v, message %q; want mine and the last line, clean", first.ProgressToken, first.Message)
	}
	if second.Progress <= first.Progress {
		t.Errorf("progress went from %v to %v", first.Progress, second.Progress)
	}
}

func TestUnknownTool(t *testing.T) {
	s := &starter{}
	client, _, _ := connect(t, t.Context(), options(s), nil)
	_, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "nothing"})
	if err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("err %v, want one that names the tool", err)
	}
	if names := slices.Collect(func(yield func(string) bool) {
		for tool := range client.Tools(t.Context(), nil) {
			if !yield(tool.Name) {
				return
			}
		}
	}); !slices.Equal(names, []string{"look", "put", "run", "watch"}) {
		t.Errorf("tools %v", names)
	}
}

// A full writer is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestFailureOfWritingIsNoneOfReading(t *testing.T) {
	toServer, fromClient := io.Pipe()
	done := make(chan error, 1) // one end
	go func() { done <- mcp.New(options(&starter{})).ServeStreams(t.Context(), toServer, full{}) }()
	if _, err := io.WriteString(fromClient, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fromClient.Close() })
	err := wait(t, done, "the end")
	if err == nil || !strings.Contains(err.Error(), "no space left") || strings.Contains(err.Error(), "reading") {
		t.Errorf("err %v", err)
	}
}

func TestClientThatDoesNotRead(t *testing.T) {
	s := &starter{}
	toServer, fromClient := io.Pipe()
	_, fromServer := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- mcp.New(options(s)).ServeStreams(t.Context(), toServer, fromServer) }()
	_, err := io.WriteString(fromClient, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	if err != nil {
		t.Fatal(err)
	}
	fromClient.Close()
	if err := wait(t, done, "the end"); err != nil {
		t.Error(err)
	}
}
