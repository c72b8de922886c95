package openai

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/belljar/belljar/agent/model"
	"github.com/google/go-cmp/cmp"
)

func TestDetails(t *testing.T) {
	const one, two = `{"data":"AAA=","id":"call_1","index":0,"type":"reasoning.encrypted"}`, `{"data":"BBB=","id":"call_2","index":0,"type":"reasoning.encrypted"}`
	for name, test := range map[string]struct {
		events []string
		want   string
	}{
		"pieces":              {[]string{`[{"type":"reasoning.text","index":0,"text":"h"}]`, `[{"type":"reasoning.text","index":0,"text":"m","signature":"s"}]`}, `[{"index":0,"signature":"s","text":"hm","type":"reasoning.text"}]`},
		"pieces of one id":    {[]string{`[{"id":"a","index":0,"data":"h"}]`, `[{"id":"a","index":0,"data":"m"}]`, `[{"index":0,"data":"!"}]`}, `[{"data":"hm!","id":"a","index":0}]`},
		"the id comes late":   {[]string{`[{"index":0,"summary":"h"}]`, `[{"id":"a","index":0,"summary":"m"}]`}, `[{"id":"a","index":0,"summary":"hm"}]`},
		"null is no text":     {[]string{`[{"index":0,"text":null}]`, `[{"index":0,"text":"hm"}]`, `[{"index":0,"text":null}]`}, `[{"index":0,"text":"hm"}]`},
		"two ids, one event":  {[]string{"[" + one + "," + two + "]"}, "[" + one + "," + two + "]"},
		"two ids, two events": {[]string{"[" + one + "]", "[" + two + "]"}, "[" + one + "," + two + "]"},
		"no id, one event":    {[]string{`[{"index":0,"data":"A="},{"index":0,"data":"B="}]`}, `[{"data":"A=","index":0},{"data":"B=","index":0}]`},
		"two indexes":         {[]string{`[{"index":0,"text":"a"}]`, `[{"index":1,"text":"b"}]`}, `[{"index":0,"text":"a"},{"index":1,"text":"b"}]`},
		"no index":            {[]string{`[{"text":"a"}]`, `[{"text":"b"}]`}, `[{"text":"a"},{"text":"b"}]`},
		"two types":           {[]string{`[{"type":"a","index":0}]`, `[{"type":"b","index":0}]`}, `[{"index":0,"type":"a"},{"index":0,"type":"b"}]`},
		"no list":             {[]string{`null`, `"x"`, `{}`}, `null`},
	} {
		t.Run(name, func(t *testing.T) {
			var d details
			for _, event := range test.events {
				d.add(json.RawMessage(event))
			}
			got, err := json.Marshal(d)
			if diff := cmp.Diff(test.want, string(got)); err != nil || diff != "" {
				t.Errorf("error %v, details (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestLongDetails: what a thought costs grows with its length, not with its
// square. Memory tells it without a clock: texts that are copied anew with each
// piece are allocated anew.
func TestLongDetails(t *testing.T) {
	allocated := func(pieces int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var d details
		for range pieces {
			d.add(json.RawMessage(`[{"type":"reasoning.text","index":0,"text":"thought"}]`))
		}
		calls := []model.ToolCall{{ID: "a"}}
		if err := d.keep(calls); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if want := strings.Repeat("thought", pieces); !strings.Contains(calls[0].Extra, `"text":"`+want+`"`) {
			t.Fatal("the thought is not whole")
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	short, long := allocated(1000), allocated(4000)
	if long > 8*short {
		t.Errorf("four times the thought took %d times the memory", long/short)
	}
}

// TestLongCalls: the same for the arguments of a call, whose name some servers
// repeat with every piece.
func TestLongCalls(t *testing.T) {
	const pieces = 80_000 // minutes of work, were each to look at all before it
	began := time.Now()
	var s callSet
	for i := range pieces {
		piece := "1123456789,"
		switch i {
		case 0:
			piece = `{"a":[`
		case pieces - 1:
			piece = "0]}"
		}
		var d callDelta
		if err := json.Unmarshal(fmt.Appendf(nil, `{"index":0,"function":{"name":"read","arguments":%q}}`, piece), &d); err != nil {
			t.Fatal(err)
		}
		if _, err := s.addAll([]callDelta{d}); err != nil {
			t.Fatal(err)
		}
	}
	calls, err := s.list()
	if err != nil || len(calls) != 1 || len(calls[0].Arguments) < 11*(pieces-2) {
		t.Errorf("%d calls, error %v; want one that is whole", len(calls), err)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}
