package trajectory_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// bodies has one body of every type, with fields full and empty.
func bodies() []trajectory.Body {
	code := 3
	return []trajectory.Body{
		trajectory.Start{
			Session: "20260102-030405-abcd", Task: "fix <it> & go", Model: "m",
			Image:  trajectory.Image{Ref: "r", ID: "i", Digest: "d"},
			Engine: "e", Limits: trajectory.Limits{Memory: 1, CPUs: 0.5, Pids: 2, NoFile: 3},
		},
		trajectory.Start{},
		trajectory.Message{Role: "user", Text: "grüß dich\n"},
		trajectory.Message{Role: "assistant", Text: "", Reasoning: "hm"},
		trajectory.ToolCall{CallID: "c1", Name: "bash", Arguments: `{"command":"a && b > c"`},
		trajectory.ToolCall{
			CallID: "c2", Name: "bash", Arguments: "{}",
			Extra: `{"extra_content":{"google":{"thought_signature":"A+/<=="}},"n":9007199254740993}`, Origin: "https://h/v1",
		},
		trajectory.ToolResult{
			CallID: "c1", Name: "bash", Status: "exited", ExitCode: &code, DurationMS: 12, IsError: true,
			Content: []trajectory.Part{{Type: "text"}, {Type: "image", MediaType: "image/png", Data: []byte{0, 1, 255}}},
			Output:  "outputs/1",
		},
		trajectory.ToolResult{CallID: "c2", Name: "read_file", Status: "ok", Content: []trajectory.Part{}},
		trajectory.Usage{Input: 1, Output: 2, Cached: 3, Estimated: true},
		trajectory.Usage{Input: 1, Output: 2, Reasoning: 1, CostUSD: new(0.0)},
		trajectory.Notice{Kind: "retry", Text: "waiting"},
		trajectory.Notice{Kind: "summary", Text: "the gist", Messages: 4},
		trajectory.Notice{Kind: "compacted", Text: "shorter", Shortened: []trajectory.Shortened{
			{Calls: []string{"c1", "c2"}, Kept: 800, Images: true}, {Calls: []string{"c3"}, Kept: 2000},
		}},
		trajectory.Network{Host: "example.org", Port: 443, Allowed: true, Rule: "*.org"},
		trajectory.Network{Host: "example.org", Port: 1, Reason: "no rule"},
		trajectory.Approval{CallID: "c1", Decision: "allowed", By: trajectory.ByUser},
		trajectory.Approval{CallID: "c2", Decision: "denied", By: trajectory.ByGuard, Reason: "no", Risk: "it removes all"},
		trajectory.End{Stop: "finished", Final: "done", Turns: 2},
		trajectory.Nested{Parent: "c1", Body: trajectory.Start{Task: "look"}},
		trajectory.Nested{Parent: "c1", Body: trajectory.ToolCall{CallID: "c1", Name: "bash", Arguments: "{}"}},
		trajectory.Nested{Parent: "c1", Body: trajectory.ToolResult{CallID: "c1", Name: "bash", Status: "ok", Content: []trajectory.Part{{Type: "text", Text: "a"}}}},
		trajectory.Nested{Parent: "c1", Body: trajectory.Message{Role: "assistant", Text: "found"}},
		trajectory.Nested{Parent: "c1", Body: trajectory.End{Stop: "finished", Final: "found", Turns: 2}},
		trajectory.End{Stop: "max_cost", Turns: 2, Requests: 4, Waits: 2, WaitedMS: 1500, Usage: &trajectory.Usage{Input: 5, CostUSD: new(0.25)}},
		trajectory.ToolResult{
			CallID: "c3", Name: "apply_patch", Status: "ok", Content: []trajectory.Part{}, Lasting: "0a1b",
			Files: []trajectory.FileSum{{Path: "a", SHA256: "ff"}, {Path: "gone"}},
		},
	}
}

// file is a trajectory.File in memory that counts writes and can fail.
type file struct {
	bytes.Buffer
	writes, syncs, closes int
	write                 func(p []byte) (int, error) // replaces Write when set
	syncErr               error
}

func (f *file) Write(p []byte) (int, error) {
	f.writes++
	if f.write != nil {
		return f.write(p)
	}
	return f.Buffer.Write(p)
}
func (f *file) Sync() error  { f.syncs++; return f.syncErr }
func (f *file) Close() error { f.closes++; return nil }

func record(t *testing.T, r trajectory.Recorder, bodies ...trajectory.Body) {
	t.Helper()
	for _, b := range bodies {
		if err := r.Record(b); err != nil {
			t.Fatalf("recording %T: %v", b, err)
		}
	}
}

func TestWriterGolden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // its clock makes the times fixed
		f := &file{}
		record(t, trajectory.NewWriter(f), bodies()...)
		golden := filepath.Join("testdata", "events.jsonl")
		if *update {
			if err := os.WriteFile(golden, f.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(f.String(), "\n")); diff != "" {
			t.Errorf("record differs from %s (-want +got):\n%s", golden, diff)
		}
	})
}

func TestWriterWritesOnceAndSyncs(t *testing.T) {
	for _, body := range bodies() {
		t.Run(trajectory.EventType(body), func(t *testing.T) {
			f := &file{}
			record(t, trajectory.NewWriter(f), body)
			wantSyncs := 0
			switch inner, _ := trajectory.Unnest(body); inner.(type) {
			case trajectory.Message, trajectory.End:
				wantSyncs = 1
			}
			if f.writes != 1 || f.syncs != wantSyncs {
				t.Errorf("%d writes and %d syncs, want 1 and %d", f.writes, f.syncs, wantSyncs)
			}
		})
	}
}

func TestWriterFailureStops(t *testing.T) {
	full := errors.New("disk full")
	tests := map[string]struct {
		file *file
		body trajectory.Body
		want error
	}{
		"failed write": {&file{write: func([]byte) (int, error) { return 0, full }}, trajectory.Usage{}, full},
		"short write":  {&file{write: func(p []byte) (int, error) { return len(p) - 1, nil }}, trajectory.Usage{}, io.ErrShortWrite},
		"failed sync":  {&file{syncErr: full}, trajectory.Message{Role: "user"}, full},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := trajectory.NewWriter(test.file)
			if err := w.Record(test.body); !errors.Is(err, test.want) {
				t.Fatalf("error %v, want %v", err, test.want)
			}
			test.file.write, test.file.syncErr = nil, nil
			writes := test.file.writes
			if err := w.Record(trajectory.Usage{}); !errors.Is(err, test.want) {
				t.Errorf("the next Record: error %v, want %v", err, test.want)
			}
			if test.file.writes != writes {
				t.Error("something was written after a failure")
			}
		})
	}
}

func TestWriterClose(t *testing.T) {
	f := &file{}
	w := trajectory.NewWriter(f)
	for range 2 {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if f.closes != 1 || f.syncs != 1 {
		t.Errorf("%d closes and %d syncs, want 1 and 1", f.closes, f.syncs)
	}
	if err := w.Record(trajectory.Usage{}); err == nil {
		t.Error("Record after Close gave no error")
	}
}

func TestEventHasBody(t *testing.T) {
	if _, err := json.Marshal(trajectory.Event{V: 1}); err == nil {
		t.Error("an event without a body was encoded")
	}
}

// TestSchema validates every kind of line, with a schema made strict, so that
// a field that is not in the schema is found.
func TestSchema(t *testing.T) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(trajectory.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	for _, def := range schema.Defs {
		if def.Properties != nil {
			def.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
		}
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	validate := func(line []byte) error {
		var value any
		if err := json.Unmarshal(line, &value); err != nil {
			return err
		}
		return resolved.Validate(value)
	}
	f := &file{}
	record(t, trajectory.NewWriter(f), bodies()...)
	for line := range bytes.Lines(f.Bytes()) {
		if err := validate(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	for name, line := range map[string]string{
		"unknown field":            `{"v":1,"type":"usage","time":"2026-01-02T03:04:05Z","seq":1,"input":1,"output":1,"cached":0,"estimated":false,"x":1}`,
		"missing field":            `{"v":1,"type":"usage","time":"2026-01-02T03:04:05Z","seq":1,"input":1,"output":1,"cached":0}`,
		"no seq":                   `{"v":1,"type":"notice","time":"2026-01-02T03:04:05Z","kind":"a","text":"b"}`,
		"a sub-agent's connection": `{"v":1,"type":"network","time":"2026-01-02T03:04:05Z","seq":1,"parent":"a","host":"b","port":1,"allowed":true,"rule":"b"}`,
		"local time":               `{"v":1,"type":"notice","time":"2026-01-02T03:04:05+01:00","seq":1,"kind":"a","text":"b"}`,
	} {
		if validate([]byte(line)) == nil {
			t.Errorf("%s: the schema took %s", name, line)
		}
	}
}

func TestReaderRoundTrip(t *testing.T) {
	f, memory := &file{}, &trajectory.Memory{}
	record(t, trajectory.Tee(trajectory.NewWriter(f), memory), bodies()...)
	r := trajectory.NewReader(&f.Buffer)
	var got []trajectory.Body
	for event, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, event.Body)
		if event.Seq != len(got) || event.Type != trajectory.EventType(event.Body) {
			t.Errorf("event %d has seq %d and type %s", len(got), event.Seq, event.Type)
		}
	}
	if diff := cmp.Diff(memory.Bodies(), got); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	if r.Truncated() || r.Skipped() != (trajectory.Skipped{}) {
		t.Errorf("truncated %v, skipped %+v", r.Truncated(), r.Skipped())
	}
}

func TestReaderForgives(t *testing.T) {
	const (
		notice = `{"v":1,"type":"notice","time":"2026-01-02T03:04:05Z","seq":1,"kind":"a","text":"b"}`
		extra  = `{"v":1,"type":"notice","time":"2026-01-02T03:04:05Z","seq":1,"kind":"a","text":"b","later":"p","n":{}}`
		later  = `{"v":2,"type":"notice","time":"2026-01-02T03:04:05Z","seq":1,"kind":7}`
		alien  = `{"v":1,"type":"dance","time":"2026-01-02T03:04:05Z","seq":1}`
	)
	tests := map[string]struct {
		input     string
		events    int
		truncated bool
		skipped   trajectory.Skipped
		broken    string // part of the error
	}{
		"empty":               {input: ""},
		"empty lines":         {input: "\n\n" + notice + "\n", events: 1},
		"cut line":            {input: notice + "\n" + notice[:30], events: 1, truncated: true},
		"cut at the end":      {input: notice + "\n" + notice, events: 2, truncated: true},
		"zeros at the end":    {input: notice + "\n\x00\x00\x00", events: 1, truncated: true},
		"unknown fields":      {input: extra + "\n", events: 1, skipped: trajectory.Skipped{Fields: 2}},
		"unknown type":        {input: alien + "\n" + notice + "\n", events: 1, skipped: trajectory.Skipped{Events: 1}},
		"later version":       {input: later + "\n" + notice + "\n", events: 1, skipped: trajectory.Skipped{Events: 1}},
		"broken in the midst": {input: notice + "\n" + notice[:30] + "\n" + notice + "\n", events: 1, broken: "line 2"},
		"not an event":        {input: "{}\n" + notice + "\n", broken: "line 1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := trajectory.NewReader(strings.NewReader(test.input))
			events, broken := 0, ""
			for _, err := range r.All() {
				if err != nil {
					broken = err.Error()
					continue
				}
				events++
			}
			if events != test.events || r.Truncated() != test.truncated || r.Skipped() != test.skipped {
				t.Errorf("%d events, truncated %v, skipped %+v; want %d, %v, %+v", events, r.Truncated(), r.Skipped(),
					test.events, test.truncated, test.skipped)
			}
			if (broken == "") != (test.broken == "") || !strings.Contains(broken, test.broken) {
				t.Errorf("error %q, want one with %q", broken, test.broken)
			}
		})
	}
}

func TestTeeStopsAtFailure(t *testing.T) {
	screen := &trajectory.Memory{}
	w := trajectory.NewWriter(&file{})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := trajectory.Tee(w, screen).Record(trajectory.Usage{}); err == nil {
		t.Error("no error although the record failed")
	}
	if len(screen.Events()) != 0 {
		t.Error("the screen showed what is not on record")
	}
}

// FuzzReader: whatever a record holds, reading it ends, and what was read can
// be written and read again.
func FuzzReader(f *testing.F) {
	seed := &file{}
	w := trajectory.NewWriter(seed)
	for _, b := range bodies() {
		if err := w.Record(b); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(seed.Bytes())
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"v":1,"type":"end"`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for event, err := range trajectory.NewReader(bytes.NewReader(data)).All() {
			if err != nil {
				return
			}
			if event.Time.Year() > 9999 || event.Time.Year() < 0 {
				continue
			}
			line, err := json.Marshal(event)
			if err != nil {
				t.Fatalf("encoding an event that was read: %v", err)
			}
			again, err := trajectory.NewReader(bytes.NewReader(append(line, '\n'))).Next()
			if err != nil {
				t.Fatalf("reading %s: %v", line, err)
			}
			if trajectory.EventType(again.Body) != trajectory.EventType(event.Body) || again.Seq != event.Seq {
				t.Fatalf("%s came back as %+v", line, again)
			}
		}
	})
}
