package tools_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/tools"
)

// A cautious tool tells a risk, or breaks down.
type cautious struct {
	stub
	assess func(json.RawMessage) tools.Risk
}

func (c cautious) Assess(_ context.Context, args json.RawMessage) tools.Risk { return c.assess(args) }

// TestAssess asks the registry about calls, none of which is run.
func TestAssess(t *testing.T) {
	f := newFiles(t)
	bash, err := tools.NewBash(box{}, tools.BashOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range []tools.Tool{
		bash,
		stub{name: "plain", schema: schema(t, stubSchema)},
		cautious{stub{name: "breaks", schema: schema(t, stubSchema)}, func(json.RawMessage) tools.Risk { panic("broken") }},
	} {
		if err := f.registry.Register(tool); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		tool, args string
		want       string // part of the text; "" is no risk
		slip       bool
		wont       bool // it would not run
	}{
		"slip":                      {tool: "bash", args: `{"command":"rm -rf ."}`, want: "would remove the whole workspace", slip: true},
		"a field that is not there": {tool: "bash", args: `{"command":"rm -rf ~","background":false}`, wont: true},
		"slip in a later line":      {tool: "bash", args: `{"command":"ls\n\nrm -rf /"}`, want: "line 3: rm -rf /", slip: true},
		"ordinary":                  {tool: "bash", args: `{"command":"rm -rf build"}`},
		"variable that is given":    {tool: "bash", args: `{"command":"rm -rf $OUT/*"}`},
		"variable that is not":      {tool: "bash", args: `{"command":"rm -rf $IN/*"}`, want: "where IN is empty", slip: true},
		"other fields":              {tool: "bash", args: `{"command":"rm -rf /","timeout_seconds":3}`, want: "rm -rf /", slip: true},
		"wrong arguments":           {tool: "bash", args: `{"command":["rm -rf /"]}`, wont: true},
		"no arguments":              {tool: "bash", args: ``, wont: true},
		"no JSON":                   {tool: "bash", args: `{"comm`, wont: true},
		"unknown":                   {tool: "nothing", args: `{}`, wont: true},
		"no assessor":               {tool: "plain", args: `{"path":"x"}`},
		"one that breaks down":      {tool: "breaks", args: `{"path":"x"}`, want: "it is not known what this would do: the tool breaks broke down (broken)"},
		"write":                     {tool: "write_file", args: `{"path":"main.go","content":""}`},
		"write what is obeyed":      {tool: "write_file", args: `{"path":"/workspace/.envrc","content":""}`, want: "changes /workspace/.envrc, which programs on your machine obey (environment managers)"},
		"write, hostile name":       {tool: "write_file", args: `{"path":".vscode/\u001b[2J\n","content":""}`, want: "changes .vscode/⟦1b⟧[2J"},
		"edit":                      {tool: "edit_file", args: `{"path":"main.go","old_text":"a","new_text":"b"}`},
		"edit what is obeyed":       {tool: "edit_file", args: `{"path":".github/workflows/ci.yml","old_text":"a","new_text":"b"}`, want: "continuous integration"},
		"edit one of several":       {tool: "edit_file", args: `{"files":[{"path":"a","old_text":"a","new_text":"b"},{"path":".npmrc","old_text":"a","new_text":"b"}]}`, want: "changes .npmrc"},
		"patch":                     {tool: "apply_patch", args: `{"patch":"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}`},
		"patch that removes":        {tool: "apply_patch", args: `{"patch":"*** Begin Patch\n*** Delete File: notes.txt\n*** End Patch"}`, want: "removes notes.txt"},
		"patch that moves":          {tool: "apply_patch", args: `{"patch":"*** Begin Patch\n*** Update File: a\n*** Move to: .envrc\n@@\n-x\n+y\n*** End Patch"}`, want: "changes .envrc, which programs on your machine obey (environment managers); removes a"},
		"patch that cannot be":      {tool: "apply_patch", args: `{"patch":"nothing"}`},
		"patch that removes many":   {tool: "apply_patch", args: `{"patch":"*** Begin Patch\n` + strings.Repeat(`*** Delete File: x\n`, 5) + `*** End Patch"}`, want: "and 2 more"},
		"read":                      {tool: "read_file", args: `{"path":".envrc"}`},
	} {
		t.Run(name, func(t *testing.T) {
			risk, runs := f.registry.Assess(t.Context(), test.tool, json.RawMessage(test.args))
			if runs == test.wont || risk.Slip != test.slip || risk.Failed != (test.tool == "breaks") || !strings.Contains(risk.Text, test.want) || (risk.Text == "") != (test.want == "") {
				t.Errorf("risk %+v, runs %v", risk, runs)
			}
			if strings.ContainsAny(risk.Text+risk.Hint, "\n\x1b") {
				t.Errorf("risk %+v", risk)
			}
		})
	}
}

// The guard goes by the directory that the last command ended in.
func TestAssessByDirectory(t *testing.T) {
	bash, err := tools.NewBash(box{func(_ context.Context, cmd sandbox.Command) (sandbox.Result, error) {
		code := 0
		return sandbox.Result{Status: sandbox.Exited, ExitCode: &code, Dir: strings.TrimPrefix(cmd.Script, "cd ")}, nil
	}}, tools.BashOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		dir  string
		held bool
	}{{"/workspace/build", false}, {"/workspace", true}, {"/tmp/x", false}, {"/", true}} {
		if _, err := bash.Execute(t.Context(), json.RawMessage(`{"command":"cd `+test.dir+`"}`)); err != nil {
			t.Fatal(err)
		}
		if risk := bash.(tools.Assessor).Assess(t.Context(), json.RawMessage(`{"command":"rm -rf *"}`)); risk.Slip != test.held {
			t.Errorf("in %s: %+v", test.dir, risk)
		}
	}
}

// While a command runs nobody knows where it will end, and Assess does not wait.
func TestAssessWhileOneRuns(t *testing.T) {
	var bash tools.Tool
	var err error
	bash, err = tools.NewBash(box{func(context.Context, sandbox.Command) (sandbox.Result, error) {
		if risk := bash.(tools.Assessor).Assess(t.Context(), json.RawMessage(`{"command":"rm -rf *"}`)); risk.Slip {
			t.Errorf("risk %+v", risk)
		}
		code := 0
		return sandbox.Result{Status: sandbox.Exited, ExitCode: &code}, nil
	}}, tools.BashOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bash.Execute(t.Context(), json.RawMessage(`{"command":"ls"}`)); err != nil {
		t.Fatal(err)
	}
}

func TestGuardIsTold(t *testing.T) {
	for _, guarded := range []bool{false, true} {
		bash, err := tools.NewBash(box{}, tools.BashOptions{Guarded: guarded})
		if err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(bash.Definition().Description, "It is no boundary"); told != guarded {
			t.Errorf("guarded %v: the description is\n%s", guarded, bash.Definition().Description)
		}
	}
}
