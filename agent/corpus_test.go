package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

// A ranList notes which tools ran. Safe for concurrent use.
type ranList struct {
	mu  sync.Mutex
	ran []string
}

// tool is a tool that is noted when it runs.
func (l *ranList) tool(name string) tools.Tool {
	return fileTool{tool{name, tools.Write, func(_ context.Context, args json.RawMessage) (tools.Result, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.ran = append(l.ran, fmt.Sprintf("%s %s", name, args))
		return tools.Text("done"), nil
	}}}
}

// A fileTool takes the arguments that the recorded calls have.
type fileTool struct{ tool }

func (t fileTool) Definition() tools.Definition {
	definition := t.tool.Definition()
	for _, name := range []string{"path", "pattern"} {
		definition.Schema.Properties[name] = &jsonschema.Schema{Type: "string"}
	}
	return definition
}

// TestOnlyWholeAnswersRunTools plays each recorded stream to a whole agent, and
// then again, cut in the middle. A tool runs for the calls of a whole answer
// and for nothing else, and no run that got less ends as finished.
func TestOnlyWholeAnswersRunTools(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("model", "openai", "testdata", "streams", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d streams, error %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, rest, _ := strings.Cut(string(data), "\n-- want --\n")
			want, stream, _ := strings.Cut(rest, "-- stream --\n")
			whole := strings.Contains(want, "finish stop\n") || strings.Contains(want, "finish tool_calls\n")
			var calls []string
			for line := range strings.Lines(want) {
				if fields := strings.Fields(line); fields[0] == "call" && whole {
					calls = append(calls, fields[2]+" "+strings.Join(fields[3:min(4, len(fields))], ""))
				}
			}
			checkRan(t, stream, calls, whole)
			if cut, _, ok := strings.Cut(stream, `"finish_reason":"`); ok {
				checkRan(t, cut, nil, false)
			}
		})
	}
}

// checkRan plays the stream for ever, or until it is believed with a proper
// answer after it.
func checkRan(t *testing.T, stream string, calls []string, whole bool) {
	t.Helper()
	answers := []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, stream) }}
	if whole {
		if !strings.Contains(stream, `"finish_reason":"`) {
			answers = append(answers, answers[0]) // believed the second time
		}
		answers = append(answers, streaming(serverText, "[DONE]"))
	}
	var list ranList
	a := serverAgent(t, newServer(t, answers...), &trajectory.Memory{}, func(o *agent.Options) {
		o.Tools = registry(t, list.tool("read"), list.tool("write"), list.tool("grep"), list.tool("list"))
		o.MaxTurns = 5
	})
	outcome, err := a.Run(t.Context(), "go")
	if diff := cmp.Diff(calls, list.ran); diff != "" {
		t.Errorf("tools that ran (-want +got):\n%s", diff)
	}
	if finished := outcome.Stop == agent.StopFinished; finished != whole || whole && err != nil {
		t.Errorf("ended as %s, error %v", outcome.Stop, err)
	}
}
