package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestExecPage asserts that docs/exec.md names every field of the object.
func TestExecPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "exec.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := jsonNames(reflect.TypeFor[execJSON]())
	if len(names) < 60 {
		t.Fatalf("only %d fields were found: %q", len(names), names)
	}
	for _, name := range names {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("the page does not name %s", name)
		}
	}
}

// jsonNames are the names that a type has in JSON, with those of the types in it.
func jsonNames(typ reflect.Type) (names []string) {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice:
		return jsonNames(typ.Elem())
	case reflect.Struct:
	default:
		return nil
	}
	for _, field := range reflect.VisibleFields(typ) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			names = append(append(names, name), jsonNames(field.Type)...)
		}
	}
	return names
}
