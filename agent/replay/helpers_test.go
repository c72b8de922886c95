package replay_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/belljar/belljar/agent/replay"
	"github.com/belljar/belljar/agent/trajectory"
)

// recorded is a session with the events.
func recorded(t *testing.T, bodies ...trajectory.Body) *trajectory.Session {
	t.Helper()
	session, err := trajectory.Create(t.TempDir(), trajectory.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range bodies {
		if err := session.Writer().Record(body); err != nil {
			t.Fatal(err)
		}
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	return session
}

// reader reads a session's record.
func reader(t *testing.T, session *trajectory.Session) *trajectory.Reader {
	t.Helper()
	events, err := session.Events()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { events.Close() })
	return trajectory.NewReader(events)
}

// eventsFile is where a session's record is.
func eventsFile(session *trajectory.Session) string {
	return filepath.Join(session.Dir, "events.jsonl")
}

// A caller answers calls by their ids, and notes which it was given.
type caller struct {
	results map[string]trajectory.ToolResult
	fail    error

	mu  sync.Mutex
	ran []string // the ids, those of sub-agents after their parent's
}

func (c *caller) Call(_ context.Context, parent string, call trajectory.ToolCall) (trajectory.ToolResult, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ran = append(c.ran, strings.TrimPrefix(parent+"/"+call.CallID, "/"))
	return c.results[call.CallID], c.fail
}

// run replays a session and gives what was told of each call.
func run(t *testing.T, session *trajectory.Session, opts replay.Options) ([]replay.Call, replay.Summary) {
	t.Helper()
	var calls []replay.Call
	opts.OnCall = func(c replay.Call) error { calls = append(calls, c); return nil }
	sum, err := replay.Run(t.Context(), reader(t, session), opts)
	if err != nil {
		t.Fatal(err)
	}
	return calls, sum
}

// call and result are events.
func call(id, name string) trajectory.ToolCall {
	return trajectory.ToolCall{CallID: id, Name: name, Arguments: "{}"}
}

func result(id, text string, change ...func(*trajectory.ToolResult)) trajectory.ToolResult {
	r := trajectory.ToolResult{CallID: id, Name: "bash", Status: "exited", ExitCode: new(0), Content: []trajectory.Part{{Type: "text", Text: text}}}
	for _, c := range change {
		c(&r)
	}
	return r
}

// outputs is a folder with one kept output.
func outputs(t *testing.T, text string) *os.Root {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "outputs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "outputs", "0001.txt"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}
