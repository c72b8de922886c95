package openai_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/provider"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestKilledRunGoesOn: a run that is killed at any moment leaves a record from
// which the conversation can be made anew, just as the model saw it, and what is
// sent to go on with it is what the strictest server of each kind takes.
func TestKilledRunGoesOn(t *testing.T) {
	runs := map[string]model.Model{
		"odd streams":                 oddServer(t, origin, oddStreams()),
		"odd streams, from elsewhere": oddServer(t, "https://elsewhere/v1", foreign(oddStreams())),
		"script":                      scripted(t),
	}
	const several = 5 // short runs, since each conversation is sent as a whole
	for streams := range slices.Chunk(corpusStreams(t), several) {
		runs[fmt.Sprintf("corpus %d", len(runs))] = oddServer(t, origin, append(slices.Clone(streams), lastAnswer()))
	}
	for name, m := range runs {
		t.Run(name, func(t *testing.T) {
			w := &witness{Model: m}
			record := w.run(t)
			w.check(t, record)
			lines := bytes.SplitAfter(record, []byte("\n"))
			lines = lines[:len(lines)-1] // nothing comes after the last line end
			if len(lines) < 5 {
				t.Fatalf("only %d events", len(lines))
			}
			for n, line := range lines {
				checkTorn(t, n+1, line)
			}
			all := pasts(t, lines)
			for _, p := range provider.Profiles() {
				t.Run(p.Name, func(t *testing.T) {
					t.Parallel()
					checkKilled(t, p, all)
				})
			}
		})
	}
}

// pasts are the conversations of a record that ends after each event, where the
// event says something to the model. Every other one has a word of the user to
// go on.
func pasts(t *testing.T, lines [][]byte) [][]model.Message {
	t.Helper()
	var all [][]model.Message
	var before []model.Message
	for n := range lines {
		messages, err := fromRecord(trajectory.NewReader(bytes.NewReader(bytes.Join(lines[:n+1], nil))).All())
		if err != nil {
			t.Fatalf("after event %d: %v", n+1, err)
		}
		if reflect.DeepEqual(before, messages) {
			continue
		}
		before = messages
		if len(all)%2 > 0 {
			messages = append(slices.Clone(messages), user("Go on."))
		}
		all = append(all, messages)
	}
	return all
}

// checkKilled sends what is to go on from each conversation.
func checkKilled(t *testing.T, p provider.Profile, all [][]model.Message) {
	t.Helper()
	send := capture(t, p)
	for _, messages := range all {
		req := model.Request{System: "Be brief.", Messages: messages, Tools: []model.ToolDefinition{{Name: "read"}}}
		sent := send(req)
		if err := validate(sent, p.Rules, req); err != nil {
			t.Fatalf("%d messages: %v\n%s", len(messages), err, sent)
		}
	}
}

// checkTorn cuts the last line of a record after each of its bytes: none of the
// event is left, or all of it where only the line end is missing. So the
// conversation is one of those that checkKilled goes on with.
func checkTorn(t *testing.T, number int, line []byte) {
	t.Helper()
	for cut := 1; cut < len(line); cut++ {
		reader := trajectory.NewReader(bytes.NewReader(line[:cut]))
		event, err := reader.Next()
		whole := cut == len(line)-1
		if (err == nil) != whole || !whole && !errors.Is(err, io.EOF) || whole && event.Seq != number {
			t.Fatalf("event %d, cut after byte %d: %+v and error %v", number, cut, event, err)
		}
		if _, err := reader.Next(); !errors.Is(err, io.EOF) || !reader.Truncated() {
			t.Fatalf("event %d, cut after byte %d: error %v, truncated %v", number, cut, err, reader.Truncated())
		}
	}
}

// A witness is a model that notes what a run sent it, and how much was on record
// by then.
type witness struct {
	model.Model
	record string // the file
	sent   [][]model.Message
	sizes  []int64
}

func (w *witness) Generate(ctx context.Context, req model.Request, onText func(string)) (model.Response, error) {
	info, err := os.Stat(w.record)
	if err != nil {
		return model.Response{}, err
	}
	w.sent, w.sizes = append(w.sent, slices.Clone(req.Messages)), append(w.sizes, info.Size())
	return w.Model.Generate(ctx, req, onText)
}

// run makes a run to its end and returns its record.
func (w *witness) run(t *testing.T) []byte {
	t.Helper()
	session, err := trajectory.Create(t.TempDir(), trajectory.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	w.record = filepath.Join(session.Dir, "events.jsonl")
	a, err := agent.New(agent.Options{
		Model: w, Tools: oddTools(t), Recorder: session.Writer(), System: "Be brief.", Images: true, MaxTurns: 200,
		Retry: model.RetryPolicy{Base: time.Millisecond, Max: time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	if outcome, err := a.Run(t.Context(), task); err != nil || outcome.Stop != agent.StopFinished {
		t.Fatalf("%+v and error %v", outcome, err)
	}
	record, err := os.ReadFile(w.record)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// check makes the conversation of each request anew from what was on record.
func (w *witness) check(t *testing.T, record []byte) {
	t.Helper()
	for i, sent := range w.sent {
		got, err := fromRecord(trajectory.NewReader(bytes.NewReader(record[:w.sizes[i]])).All())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sent, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("request %d (-sent +made anew):\n%s", i+1, diff)
		}
	}
}
