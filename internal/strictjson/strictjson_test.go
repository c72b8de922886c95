package strictjson_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/strictjson"
)

func TestObject(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
		err        string
	}{
		{name: "fields", text: ` {"b": [1, {"x": 1}], "a": {"x": 1}} `, want: []string{"a", "b"}},
		{name: "none", text: `{}`},
		{name: "two spellings", text: `{"a": 1, "A": 2}`, want: []string{"A", "a"}},
		{name: "byte order mark", text: "\ufeff{\"a\": 1}", want: []string{"a"}},
		{name: "empty", text: "", err: "line 1, column 1: unexpected end of JSON input"},
		{name: "null", text: "null", err: "it is null, not an object"},
		{name: "array", text: "[1]", err: "it is a JSON array, not an object"},
		{name: "place", text: "{\n  \"a\": 1,\n  oops\n}", err: "line 3, column 3: invalid character 'o'"},
		{name: "more after it", text: "{}\n{}", err: "line 2, column 1: invalid character '{' after top-level value"},
		{name: "twice", text: `{"a": 1, "a": 2}`, err: `line 1, column 12: the field "a" is there twice`},
		{name: "twice on another line", text: "{\n  \"b\": {\"a\": 1,\n  \"a\": 2}}", err: `line 3, column 5: the field "a" is there twice`},
		{name: "twice with a long name", text: `{"` + strings.Repeat("n", 200) + `": 1, "` + strings.Repeat("n", 200) + `": 1}`, err: `the field "` + strings.Repeat("n", 64) + `" is there twice`},
		{name: "large number", text: `{"a": 1e400}`, want: []string{"a"}},
		{name: "twice inside", text: `{"a": [{"b": 1, "c": 1, "b": 2}]}`, err: `the field "b" is there twice`},
		{name: "not UTF-8", text: "{\"a\": \"\xff\"}", err: "it is not valid UTF-8"},
		{name: "deep", text: `{"a": ` + strings.Repeat("[", 20_000), err: "exceeded max depth"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fields, err := strictjson.Object([]byte(tt.text))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, slices.Sorted(maps.Keys(fields))); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
		})
	}
}
