package main

import (
	"strings"
	"testing"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/tools"
)

func TestApprovalValue(t *testing.T) {
	for text, want := range map[string]string{
		"never": "never", "risky": "risky", "always": "always",
		"execute=always":                       "read=never,write=never,execute=always",
		"execute=always,write=risky":           "read=never,write=risky,execute=always",
		"risky,execute=always":                 "read=risky,write=risky,execute=always",
		" risky , read=never ":                 "read=never,write=risky,execute=risky",
		"read=risky,write=risky,execute=risky": "risky",
		"execute=always,never":                 "never",
		"":                                     "", "sometimes": "", "execute": "", "execute=": "", "=always": "", "bash=always": "", "risky,": "", "execute=sometimes": "", "Always": "",
	} {
		var modes approvals
		err := approvalValue{&modes}.Set(text)
		if (err != nil) != (want == "") {
			t.Errorf("%q: error %v", text, err)
			continue
		}
		if got := modes.String(); err == nil && got != want || err != nil && modes != (approvals{}) {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		var again approvals
		if err == nil && (approvalValue{&again}.Set(modes.String()) != nil || again != modes) {
			t.Errorf("%q does not read as what it was written from", modes)
		}
	}
}

// request is a call of a kind.
func request(effect tools.Effect, risk tools.Risk) agent.ApprovalRequest {
	return agent.ApprovalRequest{Call: model.ToolCall{Name: "tool"}, Effect: effect, Risk: risk}
}

// What is decided where nobody can be asked.
func TestUnattended(t *testing.T) {
	ordinary, slip, risk := tools.Risk{}, tools.Risk{Text: "it removes all", Hint: "name it", Slip: true}, tools.Risk{Text: "it removes one"}
	broken := tools.Risk{Text: "it broke down", Failed: true}
	for name, test := range map[string]struct {
		approval string
		noGuard  bool
		effect   tools.Effect
		risk     tools.Risk
		want     string // who decided; "" is nobody
	}{
		"by default":                     {"never", false, tools.Execute, ordinary, ""},
		"slip":                           {"never", false, tools.Execute, slip, "guard"},
		"slip without the guard":         {"never", true, tools.Execute, slip, "settings"},
		"a look that broke down":         {"never", false, tools.Execute, broken, "guard, which allows it"},
		"the same without the guard":     {"never", true, tools.Execute, broken, ""},
		"risky: a look that broke down":  {"risky", false, tools.Execute, broken, "nobody"},
		"risk":                           {"never", false, tools.Write, risk, ""},
		"risky: ordinary":                {"risky", false, tools.Execute, ordinary, ""},
		"risky: slip":                    {"risky", false, tools.Execute, slip, "nobody"},
		"risky: slip, no guard":          {"risky", true, tools.Execute, slip, "nobody"},
		"risky: risk":                    {"risky", false, tools.Write, risk, "nobody"},
		"risky for another kind: slip":   {"write=risky", false, tools.Execute, slip, "guard"},
		"always: ordinary":               {"always", false, tools.Read, ordinary, "nobody"},
		"always: slip":                   {"always", false, tools.Execute, slip, "nobody"},
		"always for another kind":        {"write=always", false, tools.Read, ordinary, ""},
		"always for this kind":           {"write=always", false, tools.Write, ordinary, "nobody"},
		"always for another kind: risky": {"execute=always", false, tools.Write, risk, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := &approver{guard: !test.noGuard, nobody: "there is no terminal", mask: strings.ToUpper}
			if err := (approvalValue{&v.modes}).Set(test.approval); err != nil {
				t.Fatal(err)
			}
			got := v.decide(t.Context(), request(test.effect, test.risk))
			by, allows := strings.CutSuffix(test.want, ", which allows it")
			want := map[string]agent.Decision{"guard": agent.Denied, "nobody": agent.Denied, "settings": agent.Allowed}[by]
			if allows {
				want = agent.Allowed
			}
			if got.By != by || got.Decision != want {
				t.Errorf("decided %+v", got)
			}
			for _, part := range map[string][]string{
				"guard": {"it removes all", "name it", "--approval risky"}, "nobody": {"there is no terminal", "--approval ", test.risk.Text, test.risk.Hint},
			}[test.want] {
				if !strings.Contains(got.Reason, part) {
					t.Errorf("the reason %q does not say %q", got.Reason, part)
				}
			}
		})
	}
}

// What an answer decides, and what it decides about later calls.
func TestAnswers(t *testing.T) {
	ordinary, risk := tools.Risk{}, tools.Risk{Text: "it removes all", Hint: "name it", Slip: true}
	for name, test := range map[string]struct {
		line     string
		risk     tools.Risk
		decision agent.Decision
		reason   string
		agreed   agreement
	}{
		"yes":                  {"y", ordinary, agent.Allowed, "", agreedOne},
		"yes in full":          {"YES", risk, agent.Allowed, "", agreedOne},
		"always, ordinary":     {"a", ordinary, agent.AllowedAlways, "", agreedOrdinary},
		"always, risky":        {"Always", risk, agent.AllowedAlways, "", agreedAll},
		"nothing":              {"", ordinary, agent.Denied, "the user said no", agreedOne},
		"no":                   {"n", ordinary, agent.Denied, "the user said no", agreedOne},
		"no in full":           {"No", ordinary, agent.Denied, "the user said no", agreedOne},
		"no to a risk":         {"no", risk, agent.Denied, "the user said no\ninstead: name it", agreedOne},
		"no and why to a risk": {"no, keep it", risk, agent.Denied, "the user said no: keep it", agreedOne},
		"no and why":           {"n use make clean", ordinary, agent.Denied, "the user said no: use make clean", agreedOne},
		"no, and why":          {"no, use make: it is there", ordinary, agent.Denied, "the user said no: use make: it is there", agreedOne},
		"a no that is a word":  {"no tests please", ordinary, agent.Denied, "the user said no: no tests please", agreedOne},
		"not a no":             {"not this folder", ordinary, agent.Denied, "the user said no: not this folder", agreedOne},
		"neither yes nor no":   {"use make clean", ordinary, agent.Denied, "the user said no: use make clean", agreedOne},
	} {
		t.Run(name, func(t *testing.T) {
			v := &approver{}
			req := request(tools.Execute, test.risk)
			got := v.answered(req, test.line)
			if got.Decision != test.decision || got.Reason != test.reason || got.By != "user" {
				t.Errorf("decided %+v", got)
			}
			if v.agreed[tools.Execute] != test.agreed || v.agreed[tools.Write] != agreedOne {
				t.Errorf("agreed to %v", v.agreed)
			}
			v.modes, v.guard, v.nobody = approvals{approvalAlways, approvalAlways, approvalAlways}, true, "gone"
			for _, later := range []struct {
				risk tools.Risk
				runs bool
			}{{ordinary, test.agreed >= agreedOrdinary}, {risk, test.agreed == agreedAll}} {
				next := v.decide(t.Context(), request(tools.Execute, later.risk))
				if (next.Decision != agent.Denied) != later.runs {
					t.Errorf("later, with the risk %q: %+v", later.risk.Text, next)
				}
				if later.runs && (next.By == "always") != (later.risk.Text != "") {
					t.Errorf("what ran with the risk %q is on record as %+v", later.risk.Text, next)
				}
			}
		})
	}
}

// An answer that begins like a yes and says more is asked about again.
func TestUnclearAnswers(t *testing.T) {
	for line, want := range map[string]bool{
		"y": false, "Yes": false, "a": false, "ALWAYS": false, "": false, "n": false, "no": false, "no, yes would be wrong": false, "use make": false, "1": false, "any other": false, "yesterday's is better": false, "not ok": false,
		"yes, go ahead": true, "yy": true, "y y": true, "y.": true, "ok": true, "OK, do it": true, "yes please": true, "always yes": true, "a lot": true, "sure": true,
	} {
		if got := unclear(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
