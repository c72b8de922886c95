package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

// TestCircles: a model that goes round in circles is told once and then
// stopped; one that gets on is left alone. Each word of the story is an answer
// and each letter of it a call: of the tool "look", which says the same of the
// same letter; in upper case of "poll", which says something new each time; a
// digit is a call that fails, in the same words for the same even digit and in
// ever other ones for an odd digit, and a plus a new list of steps. The story
// begins anew when it is over.
func TestCircles(t *testing.T) {
	tests := map[string]struct {
		story string
		turns int // of the run, which ends at 60
		told  []int
		says  string // why it stopped; "" where it is not stuck
	}{
		"one call":                   {"a", 6, []int{3}, "the last 6 calls were the same"},
		"a pair":                     {"a b", 12, []int{6}, "the same 2 calls came 6 times"},
		"a pair at once":             {"ab", 6, []int{3}, "the same 2 calls came 6 times"},
		"three in turn":              {"a b c", 18, []int{9}, "the same 3 calls"},
		"as many as are looked for":  {"abcdefghijklmnopqrst", 6, []int{3}, "the same 20 calls"},
		"a cycle with a double":      {"a a b", 18, []int{9}, "the same 3 calls"},
		"the same error":             {"2", 6, []int{3}, "the last 6 calls were the same"},
		"a pair of errors":           {"2 4", 10, []int{5, 6}, "all calls of the last 10 answers failed"},
		"an error that changes":      {"1", 10, []int{5}, "all calls of the last 10 answers failed"},
		"one that changes, and not":  {"1 2", 10, []int{5}, "all calls of the last 10 answers failed"},
		"waiting through errors":     {"1 1 1 1 a", 60, nil, ""},
		"trying again after a look":  {"1 a", 60, nil, ""},
		"ever other errors":          {"1 2 3 4 5 6 7 8 9 10 11 12", 10, []int{5}, "all calls of the last 10 answers failed"},
		"other errors after all":     {"a 1 2 3 4 5 6 7 8 9 10 11 12", 11, []int{6}, "all calls of the last 10 answers failed"},
		"told each time anew":        {"a a a b a a a c a a a d a a a e a a a f a a a g", 60, []int{3, 7, 11, 15, 19, 23, 27, 31, 35, 39, 43, 47, 51, 55, 59}, ""},
		"an error among good calls":  {"a1 b2 c3 d4 e5 f6 g7 h8 i9 j1 k2 l3", 60, nil, ""},
		"polling":                    {"A", 60, nil, ""},
		"polling and something else": {"A b", 60, nil, ""},
		"polling after an error":     {"1 A", 60, nil, ""},
		"a list beside errors":       {"+1 +2 3+ 4+ +5", 10, []int{5}, "all calls of the last 10 answers failed"},
		"a list between errors":      {"1 +", 19, []int{9}, "all calls of the last 10 answers failed"},
		"a list beside good calls":   {"+a 1 +b 2", 60, nil, ""},
		"a list alone":               {"+", 60, nil, ""},
		"other calls each time":      {"a b c d e f g h i j k l m n o p q r s t u v w x y z", 60, nil, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			told := []int{}
			m := &scripted{}
			m.turns = []func(context.Context, model.Request) (model.Response, error){
				func(_ context.Context, req model.Request) (model.Response, error) {
					turn := len(m.requests) // counted before
					if last := req.Messages[len(req.Messages)-1]; last.Role == model.User && turn > 1 {
						told = append(told, turn-1)
					}
					words := strings.Fields(test.story)
					return asks(callsOf(words[(turn-1)%len(words)], turn)...), nil
				},
			}
			polls := 0
			set := registry(t, echo("look", tools.Read), tools.NewTodo(),
				tool{"poll", tools.Write, func(context.Context, json.RawMessage) (tools.Result, error) {
					polls++
					return tools.Text(fmt.Sprint(polls, "%")), nil
				}},
				tool{"fail", tools.Write, func(_ context.Context, args json.RawMessage) (tools.Result, error) {
					var got struct{ N int }
					if err := json.Unmarshal(args, &got); err != nil || got.N%2 == 0 {
						return tools.Error("no"), err
					}
					return tools.Error(fmt.Sprint("no, for the time ", len(m.requests))), nil
				}})
			a, memory := newAgent(t, m, set, func(o *agent.Options) { o.MaxTurns = 60 })
			outcome, err := a.Run(t.Context(), "go")
			if err != nil {
				t.Fatal(err)
			}
			stop := agent.StopStuck
			if test.says == "" {
				stop = agent.StopMaxTurns
			}
			if outcome.Stop != stop || outcome.Turns != test.turns || !slices.Equal(told, test.told) {
				t.Errorf("%s after %d turns, told after %v; want %s, %d, %v", outcome.Stop, outcome.Turns, told, stop, test.turns, test.told)
			}
			if why := stuckReason(memory); test.says == "" && why != "" || !strings.Contains(why, test.says) {
				t.Errorf("the reason on record is %q, want one with %q", why, test.says)
			}
			checkPairs(t, memory)
		})
	}
}

// callsOf are the calls that a word stands for, in a turn.
func callsOf(word string, turn int) []model.ToolCall {
	if _, err := strconv.Atoi(word); err == nil && word[0] != '+' {
		return []model.ToolCall{call("fail", `{"n":`+word+`}`)}
	}
	var calls []model.ToolCall
	for _, letter := range word {
		if letter == '+' {
			calls = append(calls, call("todo", fmt.Sprintf(`{"items":[{"content":"try %d","status":"pending"}]}`, turn)))
			continue
		}
		name := "look"
		switch {
		case letter >= 'A' && letter <= 'Z':
			name = "poll"
		case letter >= '0' && letter <= '9':
			name = "fail"
		}
		calls = append(calls, call(name, fmt.Sprintf(`{"text":"%c"}`, letter)))
	}
	return calls
}

// stuckReason is what the record says of a run that was stuck.
func stuckReason(memory *trajectory.Memory) string {
	for _, body := range memory.Bodies() {
		if n, ok := body.(trajectory.Notice); ok && n.Kind == trajectory.NoticeStuck {
			return n.Text
		}
	}
	return ""
}

// Calls that mean the same are the same, however they are written; what could
// not be read is never run, and answered with what is wrong and the schema.
func TestCallsInOtherWords(t *testing.T) {
	for name, test := range map[string]struct {
		arguments []string
		turns     int
	}{
		"white space":        {[]string{`{"n":1}`, `{ "n": 1 }`, "{\n\t\"n\":1\n}"}, 6},
		"order":              {[]string{`{"n":1,"text":"a"}`, `{"text":"a","n":1}`}, 6},
		"large numbers":      {[]string{`{"n":9007199254740993}`, `{"n":9007199254740992}`}, 12},
		"garbled":            {[]string{`{"n":1`}, 6},
		"garbled every time": {[]string{`{"n":1`, `{"n":`, `{"n`, `{"`, `{`, `{"n":2`, `{"n":3`, `{"n":4`, `{"n":5`, `{"n":6`}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			var all []model.Response
			for i := range 20 {
				all = append(all, asks(call("look", test.arguments[i%len(test.arguments)])))
			}
			ran := 0
			set := registry(t, tool{"look", tools.Read, func(context.Context, json.RawMessage) (tools.Result, error) {
				ran++
				return tools.Text("ok"), nil
			}})
			a, memory := newAgent(t, answers(all...), set)
			outcome, err := a.Run(t.Context(), "go")
			if err != nil || outcome.Stop != agent.StopStuck || outcome.Turns != test.turns {
				t.Errorf("%+v and error %v, want stuck after %d turns", outcome, err, test.turns)
			}
			if !strings.HasPrefix(name, "garbled") {
				return
			}
			if ran > 0 {
				t.Error("a call with garbled arguments was run")
			}
			for _, line := range story(memory) {
				if strings.HasPrefix(line, "result") &&
					!(strings.Contains(line, "unexpected end of JSON input") && strings.Contains(line, `of this schema: {"type":"object","properties":{"n":{"type":"integer"}`)) {
					t.Errorf("the answer does not say what is wrong, or not the schema: %s", line)
				}
			}
		})
	}
}
