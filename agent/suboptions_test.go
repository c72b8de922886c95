package agent

import (
	"reflect"
	"slices"
	"testing"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

// TestSubOptions: each option of a run is handed on, or a sub-agent's own, or
// named here as one that is the run's alone. A new one has to be decided about.
func TestSubOptions(t *testing.T) {
	alone := []string{"OnText", "Opening", "BeforeEnd"}
	var opts Options
	fillOptions(t, reflect.ValueOf(&opts).Elem())
	of := callOf{run: &run{Agent: &Agent{opts: opts}, window: newWindow(1)}, id: "1"}
	own := SubAgent{Tools: new(tools.Registry), System: "own", Closing: func() []trajectory.Notice { return nil }}
	got := reflect.ValueOf(of.subOptions("task", own, part{turns: 1, requests: 1, tokens: 1, cost: 1, time: 1}))
	for i := range got.NumField() {
		name := got.Type().Field(i).Name
		if handed := !got.Field(i).IsZero(); handed == slices.Contains(alone, name) {
			t.Errorf("%s: a sub-agent has it: %t", name, handed)
		}
	}
}

// fillOptions gives every field a value that is not its zero one.
func fillOptions(t *testing.T, opts reflect.Value) {
	t.Helper()
	for i := range opts.NumField() {
		field, name := opts.Field(i), opts.Type().Field(i).Name
		switch field.Kind() {
		case reflect.Func:
			field.Set(reflect.MakeFunc(field.Type(), func([]reflect.Value) []reflect.Value { return nil })) // never called
		case reflect.String:
			field.SetString("a")
		case reflect.Bool:
			field.SetBool(true)
		case reflect.Int, reflect.Int64:
			field.SetInt(1)
		case reflect.Float64:
			field.SetFloat(1)
		case reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		case reflect.Pointer:
			field.Set(reflect.New(field.Type().Elem()))
		}
		switch name {
		case "Model":
			field.Set(reflect.ValueOf(&counted{}))
		case "Tools":
			field.Set(reflect.ValueOf(new(tools.Registry)))
		case "Recorder":
			field.Set(reflect.ValueOf(&trajectory.Memory{}))
		case "Start":
			field.Set(reflect.ValueOf(trajectory.Start{Session: "a"}))
		case "Retry":
			field.Set(reflect.ValueOf(model.RetryPolicy{MaxWait: 1}))
		}
		if field.IsZero() {
			t.Fatalf("the test gives no value to %s", name)
		}
	}
}
