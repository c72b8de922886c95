package prices_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/prices"
	"github.com/google/go-cmp/cmp"
)

func TestBuiltIn(t *testing.T) {
	table, err := prices.BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	if table.AsOf == "" || table.Source == "" || len(table.Prices) == 0 {
		t.Errorf("the list has no date, no source or nothing in it: %+v", table)
	}
	for i, entry := range table.Prices {
		if entry.Host == "" {
			t.Errorf("entry %d names no server, but who sells decides on the price", i+1)
		}
		rates := []model.Rates{entry.Rates}
		if entry.Long != nil {
			rates = append(rates, entry.Long.Rates)
		}
		for _, r := range rates {
			if r.Input <= 0 || r.Output < r.Input || r.Cached != nil && *r.Cached > r.Input {
				t.Errorf("%v: rates %+v cannot be right", entry.Models, r)
			}
		}
		for _, name := range entry.Models {
			if found, ok := table.Find(entry.Host, strings.ReplaceAll(name, "*", "01-01")); !ok || !cmp.Equal(found, entry) {
				t.Errorf("%s at %s is found in another entry: %+v", name, entry.Host, found)
			}
		}
	}
	for _, test := range []struct{ host, name string }{
		{"localhost:11434", "gpt-4o"}, {"api.openai.com", "gpt-4o-audio-preview"}, {"api.openai.com", "gpt-9"}, {"api.openai.com", ""},
	} {
		if found, ok := table.Find(test.host, test.name); ok {
			t.Errorf("%s at %s has the price of %v", test.name, test.host, found.Models)
		}
	}
}

func TestFind(t *testing.T) {
	table, err := prices.Parse([]byte(`{"prices": [
		{"host": "One.example", "models": ["a", "b-*"], "input": 1, "output": 2},
		{"models": ["b-*", "org/*"], "input": 3, "output": 4, "cached": 0, "reasoning": 5, "long": {"above": 10, "input": 6, "output": 7}},
		{"host": "FD00::7", "models": ["v6"], "input": 8, "output": 8},
		{"host": "[::1]", "models": ["v6"], "input": 9, "output": 9},
		{"models": ["*"], "input": 0, "output": 0}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		host, name string
		want       float64 // the rate of input; -1 is none
	}{
		"by host":               {"one.example", "a", 1},
		"host in capitals":      {"ONE.example", "a", 1},
		"an IPv6 host":          {"fd00::7", "v6", 8},
		"in brackets":           {"::1", "v6", 9},
		"another IPv6 host":     {"::2", "v6", 0},
		"a pattern":             {"one.example", "b-7", 1},
		"the first that fits":   {"two.example", "b-7", 3},
		"with an organization":  {"two.example", "org/b", 3},
		"anything":              {"two.example", "c", 0},
		"a slash is no letter":  {"two.example", "other/c", -1},
		"other case is another": {"one.example", "A", 0},
	} {
		t.Run(name, func(t *testing.T) {
			found, ok := table.Find(test.host, test.name)
			if ok != (test.want >= 0) || ok && found.Input != test.want {
				t.Errorf("%+v, %t", found, ok)
			}
		})
	}
	want := model.Price{
		Rates: model.Rates{Input: 3, Output: 4, Cached: new(0.0), Reasoning: new(5.0)},
		Long:  &model.LongRates{Above: 10, Rates: model.Rates{Input: 6, Output: 7}},
	}
	if found, _ := table.Find("", "b-"); !cmp.Equal(found.Price, want) {
		t.Error(cmp.Diff(want, found.Price))
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, test := range map[string]struct{ text, says string }{
		"no JSON":            {"prices:", `it is {"prices"`},
		"nothing":            {"", "it is"},
		"an unknown field":   {`{"prices": [{"models": ["a"], "input": 1, "ouput": 2}]}`, "ouput"},
		"no output":          {`{"prices": [{"models": ["a"], "input": 1}]}`, `entry 1: "input" or "output" is missing`},
		"no input":           {`{"prices": [{"models": ["a"], "output": 1}]}`, "missing"},
		"no output for long": {`{"prices": [{"models": ["a"], "input": 1, "output": 2, "long": {"above": 5, "input": 3}}]}`, "missing"},
		"no above":           {`{"prices": [{"models": ["a"], "input": 1, "output": 2, "long": {"input": 3, "output": 3}}]}`, "above"},
		"below nought":       {`{"prices": [{"models": ["a"], "input": 1, "output": 2, "cached": -1}]}`, "below 0: -1"},
		"no model":           {`{"prices": [{"input": 1, "output": 2}]}`, "models"},
		"a broken pattern":   {`{"prices": [{"models": ["a["], "input": 1, "output": 2}]}`, "pattern"},
		"two documents":      {`{"prices": []} {}`, "follows"},
		"a rate as a text":   {`{"prices": [{"models": ["a"], "input": "1", "output": 2}]}`, "it is"},
		"the second entry":   {`{"prices": [{"models": ["a"], "input": 1, "output": 2}, {"models": ["b"]}]}`, "entry 2"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "list.json")
			if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := prices.Load(file)
			if err == nil || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), "list.json") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one with %q", err, test.says)
			}
		})
	}
	if _, err := prices.Load(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there was read")
	}
}
