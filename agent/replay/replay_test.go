package replay_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/agent/replay"
	"github.com/belljar/belljar/agent/trajectory"
)

type change = func(*trajectory.ToolResult)

// TestCompare: each kind of difference is found, and what is none is not.
func TestCompare(t *testing.T) {
	files := func(list ...trajectory.FileSum) change {
		return func(r *trajectory.ToolResult) { r.Files = list }
	}
	text := func(text string) change { return func(r *trajectory.ToolResult) { r.Content[0].Text = text } }
	lasting := func(sum, shown string) change {
		return func(r *trajectory.ToolResult) { r.Lasting, r.Content[0].Text = sum, shown }
	}
	image := func(data string) change {
		return func(r *trajectory.ToolResult) {
			r.Content = append(r.Content, trajectory.Part{Type: "image", MediaType: "image/png", Data: []byte(data)})
		}
	}
	kept := func(r *trajectory.ToolResult) { r.Output = "outputs/0001.txt" }
	running := func(shown string) change {
		return func(r *trajectory.ToolResult) { r.Status, r.ExitCode, r.Content[0].Text = "running", nil, shown }
	}
	for _, tc := range []struct {
		name      string
		tool      string // bash where it is empty
		then, now change
		opts      replay.Options
		then2     string // whole outputs
		now2      string
		outcome   replay.Outcome
		parts     string
	}{
		{name: "nothing", outcome: replay.Same},
		{name: "how long it took", now: func(r *trajectory.ToolResult) { r.DurationMS = 99 }, outcome: replay.Same},
		{name: "exit code", now: func(r *trajectory.ToolResult) { *r.ExitCode = 2 }, outcome: replay.Differs, parts: "exit_code:0/2"},
		{
			name: "no exit code", now: func(r *trajectory.ToolResult) { r.ExitCode, r.Status = nil, "timeout" },
			outcome: replay.Differs, parts: "status:exited/timeout exit_code:0/none",
		},
		{name: "error", now: func(r *trajectory.ToolResult) { r.IsError = true }, outcome: replay.Differs, parts: "is_error:false/true"},
		{name: "output", then: text("a\nb\n"), now: text("a\nc\n"), outcome: replay.Differs, parts: "output:/"},
		{name: "output gone", then: text("a"), now: func(r *trajectory.ToolResult) { r.Content = nil }, outcome: replay.Differs, parts: "output:/"},
		{name: "ids of processes", then: lasting("x", "pid 1"), now: lasting("x", "pid 2"), outcome: replay.Same},
		{name: "more than ids", then: lasting("x", "pid 1"), now: lasting("y", "pid 2"), outcome: replay.Differs, parts: "output:/"},
		{name: "ids in an older record", then: text("pid 1"), now: lasting("y", "pid 2"), outcome: replay.Differs, parts: "output:/"},
		{
			name: "ignored", then: text("took 1.5 s"), now: text("took 2 s"),
			opts: replay.Options{Ignore: []*regexp.Regexp{regexp.MustCompile(`[0-9.]+ s`)}}, outcome: replay.Same,
		},
		{
			name: "ignored and more", then: text("took 1.5 s"), now: text("takes 2 s"),
			opts: replay.Options{Ignore: []*regexp.Regexp{regexp.MustCompile(`[0-9.]+ s`)}}, outcome: replay.Differs, parts: "output:/",
		},
		{
			name: "a secret", then: text("key " + trajectory.Hidden), now: text("key sesame-open"),
			opts: replay.Options{Hide: trajectory.NewMasker("sesame-open").Hide}, outcome: replay.Same,
		},
		{
			name: "a file", then: files(trajectory.FileSum{Path: "a", SHA256: "1"}, trajectory.FileSum{Path: "b", SHA256: "2"}),
			now:     files(trajectory.FileSum{Path: "b"}, trajectory.FileSum{Path: "c", SHA256: "3"}),
			outcome: replay.Differs, parts: "file:1/none file:2/gone file:none/3",
		},
		{name: "the same file", then: files(trajectory.FileSum{Path: "a", SHA256: "1"}), now: files(trajectory.FileSum{Path: "a", SHA256: "1"}), outcome: replay.Same},
		{name: "a file that is gone in both", then: files(trajectory.FileSum{Path: "a"}), now: files(trajectory.FileSum{Path: "a"}), outcome: replay.Same},
		{name: "files in an older record", now: files(trajectory.FileSum{Path: "a", SHA256: "1"}), outcome: replay.Same},
		{name: "an image", then: image("x"), now: image("y"), outcome: replay.Differs, parts: "image:image/png of 1 bytes/image/png of 1 bytes"},
		{name: "no image", then: image("x"), outcome: replay.Differs, parts: "image:image/png of 1 bytes/none"},
		{name: "the same image", then: image("x"), now: image("x"), outcome: replay.Same},
		{name: "the middle of a long output", then: kept, now: kept, then2: "a\nb\nc\n", now2: "a\nx\nc\n", outcome: replay.Differs, parts: "full_output:b/x"},
		{name: "the end of a long output", then: kept, now: kept, then2: "a\n", now2: "a\nb\n", outcome: replay.Differs, parts: "full_output:(it has ended)/b"},
		{name: "the same long output", then: kept, now: kept, then2: "a\nb", now2: "a\nb\n", outcome: replay.Same},
		{
			name: "what a job wrote so far", then: running("a\n[job1 runs, for 1.0 s until now]"),
			now: text("a\nb\n[job1 has ended after 0.5 s: exit code 0]"), outcome: replay.Loose, parts: "status:running/exited exit_code:none/0 output:/",
		},
		{
			name: "a command that speaks as of a job", then: text("[job1 runs the tests]"),
			now:     func(r *trajectory.ToolResult) { *r.ExitCode, r.Content[0].Text = 1, "[job1 runs the tests]" },
			outcome: replay.Differs, parts: "exit_code:0/1",
		},
		{
			name: "a file that speaks as of a job", tool: "read_file", then: text("a\n[job1 (x) has ended: y]"), now: text("a"),
			outcome: replay.Differs, parts: "output:/",
		},
		{
			name: "a command that speaks as of the news", then: text("[job1 (x) has ended: y]\n[exit code 0]"), now: text("[exit code 0]"),
			outcome: replay.Differs, parts: "output:/",
		},
		{name: "what a job that ended wrote since", tool: "bash_output", then: text("a"), now: text("b"), outcome: replay.Loose, parts: "output:/"},
		{
			name: "a job that ended otherwise", tool: "bash_output", now: func(r *trajectory.ToolResult) { *r.ExitCode = 1 },
			outcome: replay.Differs, parts: "exit_code:0/1",
		},
		{
			name: "a job that ended before it was to", tool: "bash_kill", outcome: replay.Loose, parts: "status:canceled/exited exit_code:none/0",
			then: func(r *trajectory.ToolResult) { r.Status, r.ExitCode = "canceled", nil },
		},
		{
			name: "the picture of a job", tool: "bash_output", then: running("x"), now: image("y"), outcome: replay.Differs,
			parts: "status:running/exited exit_code:none/0 output:/ image:none/image/png of 1 bytes",
		},
		{
			name: "a job that cannot be found", then: running("[job1 runs, for 1.0 s until now]"),
			now: func(r *trajectory.ToolResult) { r.IsError, r.Content[0].Text = true, "there is no job" }, outcome: replay.Differs,
			parts: "status:running/exited exit_code:none/0 is_error:false/true output:/",
		},
		{
			name: "news of a job", then: text("a\n[exit code 0]\n[job1 (sleep) has ended: exit code 0; bash_output shows what it wrote]"),
			now: text("a\n[exit code 0]"), outcome: replay.Loose, parts: "output:/",
		},
		{
			name: "news of a job beside another difference", then: text("a\n[exit code 0]\n[job1 (sleep) has ended: exit code 0; bash_output shows what it wrote]"),
			now: text("b\n[exit code 0]"), outcome: replay.Differs, parts: "output:/",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			noChange := func(*trajectory.ToolResult) {}
			if tc.tool == "" {
				tc.tool = "bash"
			}
			if tc.then == nil {
				tc.then = noChange
			}
			if tc.now == nil {
				tc.now = noChange
			}
			session := recorded(t, call("1", tc.tool), result("1", "same", tc.then), trajectory.End{Stop: "finished"})
			tc.opts.Caller = &caller{results: map[string]trajectory.ToolResult{"1": result("1", "same", tc.now)}}
			if tc.then2 != "" {
				tc.opts.Recorded, tc.opts.Replayed = outputs(t, tc.then2).FS(), outputs(t, tc.now2).FS()
			}
			calls, sum := run(t, session, tc.opts)
			var parts []string
			for _, d := range calls[0].Differences {
				parts = append(parts, d.Part+":"+d.Recorded+"/"+d.Replayed)
			}
			if calls[0].Outcome != tc.outcome || strings.Join(parts, " ") != tc.parts {
				t.Errorf("%s, %q; want %s, %q", calls[0].Outcome, parts, tc.outcome, tc.parts)
			}
			counts := map[replay.Outcome]int{replay.Same: sum.Same, replay.Differs: sum.Differs, replay.Loose: sum.Loose}
			if counts[tc.outcome] != 1 || sum.Calls != 1 || !sum.Ended || sum.Truncated {
				t.Errorf("summary %+v", sum)
			}
		})
	}
}

// TestNotRun: what did not run then does not run now, and why is told.
func TestNotRun(t *testing.T) {
	status := func(status string) change {
		return func(r *trajectory.ToolResult) { r.Status, r.IsError = status, true }
	}
	session := recorded(t,
		call("1", "bash"), result("1", "", status("denied")),
		call("2", "bash"), result("2", "", status("not_run")),
		call("3", "bash"), result("3", "", status("interrupted")),
		call("4", "bash"), result("4", "", status("canceled")),
		call("5", "bash"), result("5", "", status("failed")),
		call("6", "bash"), result("6", "", status("lost")),
		call("7", "helper"), result("7", "did it"),
		call("8", "nosuch"), result("8", "there is none", status("error")),
		call("9", "bash"), result("9", "ended", func(r *trajectory.ToolResult) { r.Status = "canceled" }),
		trajectory.ToolCall{CallID: "11", Name: "bash", Arguments: `{"command":"login ` + trajectory.Hidden + `"}`}, result("11", "in"),
		call("12", "helper"), result("12", "no such argument", status("error")),
		call("10", "bash"),
	)
	c := &caller{results: map[string]trajectory.ToolResult{
		"8": result("8", "there is none", status("error")),
		"9": result("9", "ended", func(r *trajectory.ToolResult) { r.Status = "canceled" }),
	}}
	calls, sum := run(t, session, replay.Options{Caller: c, Lacks: func(_, name string) bool { return name == "helper" }})
	var why []string
	for _, call := range calls {
		why = append(why, call.CallID+" "+string(call.Outcome)+" "+call.Why)
	}
	if diff := cmp.Diff([]string{
		"1 not_run denied", "2 not_run not_run", "3 not_run interrupted", "4 not_run canceled", "5 not_run failed", "6 not_run lost",
		"7 not_run no_tool", "8 same ", "9 same ", "11 not_run hidden_arguments", "12 not_run no_tool", "10 not_run no_result",
	}, why); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"8", "9"}, c.ran); diff != "" {
		t.Errorf("ran (-want +got):\n%s", diff)
	}
	want := replay.Summary{Calls: 12, Same: 2, NotRun: map[string]int{
		"denied": 1, "not_run": 1, "interrupted": 1, "canceled": 1, "failed": 1, "lost": 1, "no_tool": 2, "no_result": 1, "hidden_arguments": 1,
	}}
	if diff := cmp.Diff(want, sum); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

// A meeting is a Caller whose calls wait for one another: as many as are
// expected at once.
type meeting struct {
	expected map[string]int
	mu       sync.Mutex
	inside   int
	most     map[string]int
	changed  *sync.Cond
}

func (m *meeting) Call(_ context.Context, _ string, call trajectory.ToolCall) (trajectory.ToolResult, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inside++
	m.most[call.Name] = max(m.most[call.Name], m.inside)
	m.changed.Broadcast()
	for m.most[call.Name] < m.expected[call.Name] {
		m.changed.Wait()
	}
	m.inside--
	return result(call.CallID, ""), nil
}

// TestSideBySide: calls that ran side by side do so again, and no others.
func TestSideBySide(t *testing.T) {
	session := recorded(t,
		call("1", "alone"), result("1", ""), call("2", "alone"), result("2", ""),
		call("3", "both"), call("4", "both"), trajectory.Approval{CallID: "4", Decision: "allowed"}, result("3", ""), result("4", ""),
		// What another agent did within a call ran by itself.
		call("5", "alone"), trajectory.Message{Role: "assistant"}, call("6", "alone"), result("6", ""), result("5", ""),
	)
	m := &meeting{expected: map[string]int{"alone": 1, "both": 2}, most: map[string]int{}}
	m.changed = sync.NewCond(&m.mu)
	calls, _ := run(t, session, replay.Options{Caller: m})
	if diff := cmp.Diff(map[string]int{"alone": 1, "both": 2}, m.most); diff != "" {
		t.Errorf("at once (-want +got):\n%s", diff)
	}
	var order []string
	for _, c := range calls {
		order = append(order, c.CallID)
	}
	if got := strings.Join(order, " "); got != "1 2 3 4 6 5" {
		t.Errorf("order %s", got)
	}
}

// TestCutRecord: a record that was cut anywhere replays what is whole.
func TestCutRecord(t *testing.T) {
	session := recorded(t,
		trajectory.Message{Role: "user", Text: "go"}, call("1", "bash"), result("1", "ä"),
		call("2", "bash"), call("3", "bash"), result("2", "b"), result("3", "c"), trajectory.End{Stop: "finished"},
	)
	data, err := os.ReadFile(eventsFile(session))
	if err != nil {
		t.Fatal(err)
	}
	results := map[string]trajectory.ToolResult{"1": result("1", "ä"), "2": result("2", "b"), "3": result("3", "c")}
	most := 0
	for n := range len(data) + 1 {
		if err := os.WriteFile(eventsFile(session), data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		c := &caller{results: results}
		_, sum := run(t, session, replay.Options{Caller: c})
		if sum.Differs != 0 || sum.Same+sum.NotRun[replay.WhyNoResult] != sum.Calls || len(c.ran) != sum.Same {
			t.Fatalf("cut at %d of %d: %+v, ran %v", n, len(data), sum, c.ran)
		}
		most = max(most, sum.Same)
	}
	if most != 3 {
		t.Errorf("%d calls were run of the whole record", most)
	}
}

// TestBroken: a failure of the sandbox or of the record ends a replay.
func TestBroken(t *testing.T) {
	session := recorded(t, call("1", "bash"), result("1", ""), call("2", "bash"), result("2", ""))
	broken := errors.New("the sandbox is lost")
	c := &caller{fail: broken}
	sum, err := replay.Run(t.Context(), reader(t, session), replay.Options{Caller: c})
	if !errors.Is(err, broken) || len(c.ran) != 1 || sum.Calls != 0 {
		t.Errorf("error %v, ran %v, %+v", err, c.ran, sum)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(broken)
	c = &caller{}
	if _, err := replay.Run(ctx, reader(t, session), replay.Options{Caller: c}); !errors.Is(err, broken) || len(c.ran) != 0 {
		t.Errorf("canceled: error %v, ran %v", err, c.ran)
	}
	if err := os.WriteFile(eventsFile(session), []byte("{\n{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := replay.Run(t.Context(), reader(t, session), replay.Options{Caller: c}); err == nil {
		t.Error("a broken record is no error")
	}
}

// TestPace: calls wait as the run did when asked to, or after a job was started,
// and not otherwise.
func TestPace(t *testing.T) {
	record := func(at string, seq int, rest string) string {
		return `{"v":1,"time":"2026-01-01T00:00:` + at + `Z","seq":` + string(rune('0'+seq)) + `,` + rest + "}\n"
	}
	resultText := func(id, status string) string {
		return `"type":"tool_result","call_id":"` + id + `","name":"bash","status":"` + status + `","exit_code":null,"duration_ms":1,"is_error":false,"content":[]`
	}
	callText := func(id string) string {
		return `"type":"tool_call","call_id":"` + id + `","name":"bash","arguments":"{}"`
	}
	text := func(status string) string {
		return record("00", 1, callText("1")) + record("01", 2, resultText("1", status)) +
			record("04", 3, callText("2")) + record("05", 4, resultText("2", "exited")) +
			record("50", 5, callText("3")) + record("51", 6, resultText("3", "exited"))
	}
	for _, tc := range []struct {
		name, status string
		pace         bool
		want         time.Duration
	}{
		{"by itself", "exited", false, 0},
		{"asked for", "exited", true, 3*time.Second + replay.MaxPause},
		{"after a job", "running", false, 3*time.Second + replay.MaxPause},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				_, err := replay.Run(t.Context(), trajectory.NewReader(strings.NewReader(text(tc.status))), replay.Options{Caller: &caller{}, Pace: tc.pace})
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(begun); took != tc.want {
					t.Errorf("waited %s, want %s", took, tc.want)
				}
			})
		})
	}
}
