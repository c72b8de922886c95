package agent_test

import (
	"strings"
	"testing"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
	"github.com/google/go-cmp/cmp"
)

// TestWrittenCalls: a call that is only written is neither run nor an answer, and
// what only talks of calls is an answer.
func TestWrittenCalls(t *testing.T) {
	tests := map[string]struct {
		text    string
		written bool
	}{
		"Hermes":                  {"I look.\n<tool_call>\n{\"name\": \"look\", \"arguments\": {\"n\": 1}}\n</tool_call>", true},
		"Hermes, arguments first": {"<tool_call>{\"arguments\": {\"n\": 1}, \"name\": \"look\"}</tool_call>", true},
		"no end":                  {"<tool_call>\n{\"name\": \"look\", \"arguments\": {}}", true},
		"no beginning":            {"{\"name\": \"look\", \"arguments\": {\"n\": 1}}\n</tool_call>", true},
		"after a thought":         {"<think>hm</think>\n\n<tool_call>{\"name\":\"look\",\"arguments\":{}}</tool_call>", true},
		"two":                     {"<tool_call>{\"name\":\"look\",\"arguments\":{}}</tool_call>\n<tool_call>{\"name\":\"look\",\"arguments\":{}}</tool_call>", true},
		"Qwen Coder":              {"<tool_call>\n<function=look>\n<parameter=n>\n1\n</parameter>\n</function>\n</tool_call>", true},
		"function alone":          {"Let me see.<function=look>{\"n\": 1}</function>", true},
		"GLM":                     {"<tool_call>look\n<arg_key>n</arg_key>\n<arg_value>1</arg_value>\n</tool_call>", true},
		"Gemma":                   {"<|tool_call>call:look{n:1}<tool_call|>", true},
		"Mistral":                 {"[TOOL_CALLS][{\"name\": \"look\", \"arguments\": {\"n\": 1}}]", true},
		"Mistral, newer":          {"[TOOL_CALLS]look[ARGS]{\"n\": 1}", true},
		"harmony":                 {"<|channel|>commentary to=functions.look <|constrain|>json<|message|>{\"n\":1}<|call|>", true},
		"harmony without tokens":  {"commentary to=functions.look json{\"n\":1}", true},
		"Kimi":                    {"<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{\"n\":1}<|tool_call_end|><|tool_calls_section_end|>", true},
		"DeepSeek":                {"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>look<｜tool▁sep｜>{\"n\":1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>", true},
		"DeepSeek, older":         {"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>look\n```json\n{\"n\":1}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", true},
		"DeepSeek, newer":         {"<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"look\">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>", true},
		"Llama":                   {"<|python_tag|>{\"name\": \"look\", \"parameters\": {\"n\": 1}}", true},
		"Llama without tokens":    {"{\"name\": \"look\", \"parameters\": {\"n\": 1}}", true},
		"JSON in a fence alone":   {"```json\n{\"name\": \"look\", \"arguments\": {\"n\": 1}}\n```", true},
		"invoke":                  {"<function_calls>\n<invoke name=\"look\">\n<parameter name=\"n\">1</parameter>\n</invoke>\n</function_calls>", true},
		"code in the arguments":   {"<tool_call>\n<function=look>\n<parameter=text>\n```go\nx\n```\n</parameter>\n</function>\n</tool_call>", true},

		"no such tool":                {"<tool_call>{\"name\": \"other\", \"arguments\": {}}</tool_call>", false},
		"talk":                        {"The parser takes <tool_call>{\"name\": \"look\"}</tool_call> out of the text.", false},
		"talk that ends in a bracket": {"The parser takes <tool_call>{\"name\": \"look\"}</tool_call> out of the text [1]", false},
		"talk of a tag":               {"I made look() read the <tool_call> tag.", false},
		"in a fence":                  {"Call it so:\n\n```xml\n<tool_call>{\"name\": \"look\", \"arguments\": {}}</tool_call>\n```", false},
		"in a line of code":           {"It begins with `<function=look>`", false},
		"other markup":                {"I wrote <function>look</function>\n<b>done</b>", false},
		"JSON that is an answer":      {"{\"name\": \"look\", \"version\": 2}", false},
		"JSON in a fence, and talk":   {"The request is\n```json\n{\"name\": \"look\", \"arguments\": {}}\n```", false},
		"a list":                      {"- look\n- [x]", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a, memory := newAgent(t, answers(says(test.text), says("Done.")), registry(t, echo("look", tools.Read)))
			outcome, err := a.Run(t.Context(), "go")
			if err != nil || outcome.Stop != agent.StopFinished {
				t.Fatalf("ended as %s, error %v", outcome.Stop, err)
			}
			want := []string{"end finished 1 " + test.text}
			if test.written {
				want = []string{"notice written_call", "end finished 2 Done."}
			}
			if diff := cmp.Diff(want, without(story(memory), "start", "user", "assistant", "usage")); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWrittenCallsEnd: a model that goes on to write its calls is not asked for
// ever, and the user is told what its server lacks.
func TestWrittenCallsEnd(t *testing.T) {
	written := says("<tool_call>{\"name\":\"look\",\"arguments\":{}}</tool_call>")
	thought := model.Response{Reasoning: written.Text, Finish: model.FinishStop}
	tests := map[string]struct {
		answers []model.Response
		stop    agent.Stop
		turns   int
		says    string
	}{
		"for ever":                {[]model.Response{written}, agent.StopModel, 2, "--tool-call-parser"},
		"in thought":              {[]model.Response{thought}, agent.StopModel, 2, "--jinja"},
		"with a call in between":  {[]model.Response{written, asks(call("look", `{}`)), written, says("Done.")}, agent.StopFinished, 4, ""},
		"with no call in between": {[]model.Response{written, says(""), written, says("Done.")}, agent.StopModel, 3, "writes its tool calls as text"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			memory := &trajectory.Memory{}
			a, _ := newAgent(t, answers(test.answers...), registry(t, echo("look", tools.Read)), func(o *agent.Options) { o.Recorder = memory })
			outcome, err := a.Run(t.Context(), "go")
			if outcome.Stop != test.stop || outcome.Turns != test.turns {
				t.Errorf("ended as %s after %d, want %s after %d", outcome.Stop, outcome.Turns, test.stop, test.turns)
			}
			if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want one with %q", err, test.says)
			}
		})
	}
}
