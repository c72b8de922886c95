package openai

import (
	"encoding/json"
	"testing"
)

func TestContent(t *testing.T) {
	for name, test := range map[string]struct {
		sent string
		want content
	}{
		"a string":               {`"hi"`, content{text: "hi"}},
		"null":                   {`null`, content{}},
		"no parts":               {`[]`, content{}},
		"text in parts":          {`[{"type":"text","text":"h"},{"type":"text","text":"i"}]`, content{text: "hi"}},
		"thought in parts":       {`[{"type":"thinking","thinking":[{"type":"text","text":"h"},{"type":"text","text":"m"}]}]`, content{thought: "hm"}},
		"thought as a string":    {`[{"type":"thinking","thinking":"hm"}]`, content{thought: "hm"}},
		"thought by its name":    {`[{"type":"reasoning","text":"hm"}]`, content{thought: "hm"}},
		"thought, then text":     {`[{"type":"thinking","thinking":"hm"},{"type":"text","text":"hi"}]`, content{text: "hi", thought: "hm"}},
		"a part of another kind": {`[{"type":"reference","reference_ids":[1]}]`, content{other: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var got content
			if err := json.Unmarshal([]byte(test.sent), &got); err != nil || got != test.want {
				t.Errorf("%+v and error %v, want %+v", got, err, test.want)
			}
		})
	}
}
