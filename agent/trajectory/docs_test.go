package trajectory_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent/trajectory"
)

// TestDocs: the description of the record names every type and field.
func TestDocs(t *testing.T) {
	data, err := os.ReadFile("../../docs/record.md")
	if err != nil {
		t.Fatal(err)
	}
	var check func(t reflect.Type) []string
	check = func(typ reflect.Type) (names []string) {
		for i := range typ.NumField() {
			field := typ.Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "-" {
				continue // on the line itself
			}
			names = append(names, name)
			if field.Type.Kind() == reflect.Struct && field.Type.PkgPath() == typ.PkgPath() {
				names = append(names, check(field.Type)...)
			}
		}
		return names
	}
	names := check(reflect.TypeFor[trajectory.Manifest]())
	for _, body := range bodies() {
		names = append(names, trajectory.EventType(body))
		names = append(names, check(reflect.TypeOf(body))...)
	}
	for _, name := range names {
		if !strings.Contains(string(data), "`"+name+"`") {
			t.Errorf("docs/record.md does not name %q", name)
		}
	}
}
