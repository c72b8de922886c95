package agent_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

// TestSumsOfHidden: the sum of a file is not on record beside its text without a
// secret, by which the secret could be guessed.
func TestSumsOfHidden(t *testing.T) {
	const secret = "sesame-open"
	for _, tc := range []struct {
		name, arguments, text string
		want                  []trajectory.FileSum
	}{
		{"neither", `{"content":"a"}`, "done", []trajectory.FileSum{{Path: "f", SHA256: "1"}}},
		{"in the arguments", `{"content":"key ` + secret + `"}`, "done", nil},
		{"in what it gave", `{}`, "key " + secret, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			set := registry(t, tool{"write", tools.Write, func(context.Context, json.RawMessage) (tools.Result, error) {
				return tools.Result{Parts: tools.Text(tc.text).Parts, Files: []tools.FileSum{{Path: "f", SHA256: "1"}}}, nil
			}})
			caller, err := agent.NewCaller(agent.Options{Tools: set, Mask: trajectory.NewMasker(secret).Mask})
			if err != nil {
				t.Fatal(err)
			}
			result, err := caller.Call(t.Context(), trajectory.ToolCall{CallID: "1", Name: "write", Arguments: tc.arguments})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, result.Files); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}
