package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// hang is far more than a bounded call takes, on a machine under load too.
const hang = 30 * time.Second

// ends fails a test whose call does not end.
func ends(t *testing.T, what string, call func()) {
	t.Helper()
	done := make(chan struct{}) // closed when the call has ended
	go func() {
		defer close(done)
		call()
	}()
	select {
	case <-done:
	case <-time.After(hang):
		t.Fatalf("%s does not end", what)
	}
}

// sparse makes a file that costs nothing and is one line of terabytes after the
// first.
func (f *files) sparse(t testing.TB, name string) {
	t.Helper()
	f.put(t, name, "hello\n"+strings.Repeat("x", 9000))
	if err := os.Truncate(filepath.Join(f.dir, name), 4<<40); err != nil {
		t.Fatal(err)
	}
}

func TestReadFileSparse(t *testing.T) {
	f := newFiles(t)
	f.sparse(t, "big")
	for _, tt := range []struct {
		name    string
		args    map[string]any
		want    string
		isError bool
	}{
		{"all", map[string]any{}, "… more than 67", false},
		{"all, told", map[string]any{}, "[the file goes on after a line of more than 64 MiB, which was not read to its end", false},
		{"the line", map[string]any{"offset": 2, "limit": 1}, "more than 64 MiB", false},
		{"after the line", map[string]any{"offset": 3}, "line 2 is longer than 64 MiB", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.args["path"] = "big"
			ends(t, "read_file", func() {
				if got, isError := f.call(t, "read_file", tt.args); isError != tt.isError || !strings.Contains(got, tt.want) {
					t.Errorf("%.100q … %q", got, got[max(len(got)-200, 0):])
				}
			})
		})
	}
}

// A call that is cancelled ends within a line.
func TestReadFileSparseCanceled(t *testing.T) {
	f := newFiles(t)
	f.sparse(t, "big")
	for _, offset := range []int{1, 3} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		ends(t, "read_file", func() {
			res, err := f.registry.Execute(ctx, "read_file", json.RawMessage(fmt.Sprintf(`{"path":"big","offset":%d}`, offset)))
			if err != nil || !strings.Contains(res.Parts[0].Text, "canceled") {
				t.Errorf("offset %d: %+v, %v", offset, res, err)
			}
		})
	}
}

// A notebook of very many small parts takes neither memory nor time.
func TestReadFileHostileNotebook(t *testing.T) {
	f := newFiles(t)
	many := func(part string) string { return strings.Repeat(part+",", 8<<20/len(part)) + part }
	for _, tt := range []struct{ name, cells string }{
		{"cells", many("{}")},
		{"outputs", `{"outputs":[` + many("{}") + `]}`},
		{"lines", `{"source":[` + many(`""`) + `]}`},
		{"lines of an output", `{"outputs":[{"text":[` + many(`""`) + `]}]}`},
		{"names of data", `{"outputs":[{"data":{` + many(`"":0`) + `}}]}`},
		{"traceback", `{"outputs":[{"output_type":"error","traceback":[` + many(`""`) + `]}]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f.put(t, "n.ipynb", `{"nbformat":4,"cells":[`+tt.cells+`]}`)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, isError := f.call(t, "read_file", map[string]any{"path": "n.ipynb"})
			runtime.ReadMemStats(&after)
			if isError || !strings.Contains(got, "too large to be shown as its cells: this is its JSON") {
				t.Errorf("%q", got[max(len(got)-200, 0):])
			}
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 200 {
				t.Errorf("it took %d MiB", took)
			}
		})
	}
}
