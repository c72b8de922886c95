package tools_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/tools"
)

// A renewable sandbox has an id of its own, which changes when it is lost.
type renewable struct {
	box
	id *string
}

func (r renewable) Info() sandbox.Info {
	info := r.box.Info()
	info.ID = *r.id
	return info
}

// TestBashLostToAnother: each tool tells once that the sandbox was lost, whoever's
// command has met that: what its model has made in it is gone as well.
func TestBashLostToAnother(t *testing.T) {
	id, lost := "one", false
	sb := renewable{box{func(context.Context, sandbox.Command) (sandbox.Result, error) {
		if lost {
			lost, id = false, id+"'"
			return sandbox.Result{}, &sandbox.RenewedError{Lost: sandbox.ErrLost, Count: 1, Max: 3}
		}
		return exited(0), nil
	}}, &id}
	call := map[string]tools.Tool{}
	for _, whose := range []string{"agent", "sub-agent"} {
		bash, err := tools.NewBash(sb, tools.BashOptions{})
		if err != nil {
			t.Fatal(err)
		}
		call[whose] = bash
	}
	for i, step := range []struct {
		whose string
		lost  bool
		told  string
	}{
		{"agent", false, ""},
		{"sub-agent", false, ""},
		{"sub-agent", true, "lost before or while this command ran"},
		{"sub-agent", false, ""},
		{"agent", false, "lost since the last command, and a new one stands"},
		{"agent", false, ""},
		{"agent", true, "lost before or while this command ran"},
		{"sub-agent", false, "lost since the last command, and a new one stands"},
	} {
		lost = step.lost
		res, err := call[step.whose].Execute(t.Context(), json.RawMessage(`{"command":"make"}`))
		if err != nil {
			t.Fatal(err)
		}
		text := res.Parts[0].Text
		if !strings.Contains(text, step.told) || strings.Contains(text, "gone are all processes") != (step.told != "") {
			t.Errorf("step %d, by the %s: %q", i, step.whose, text)
		}
	}
}
