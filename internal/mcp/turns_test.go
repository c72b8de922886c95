package mcp_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// begin calls a tool and does not wait for the answer, which ended gets.
func begin(ctx context.Context, client *sdk.ClientSession, tool, do, what string) (ended <-chan string) {
	done := make(chan string, 1) // one answer
	go func() {
		result, err := client.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: map[string]any{"do": do, "text": what}})
		if err != nil {
			done <- "error: " + err.Error()
			return
		}
		done <- text(result)
	}()
	return done
}

// started drains the texts of calls that have begun.
func (h *host) started() (texts []string) {
	for {
		select {
		case text := <-h.running:
			texts = append(texts, text)
		default:
			return texts
		}
	}
}

// bubble runs a test with a client whose host stands, in a bubble, where all that
// can happen has happened when synctest.Wait returns.
func bubble(t *testing.T, run func(t *testing.T, client *sdk.ClientSession, h *host, told <-chan string)) {
	synctest.Test(t, func(t *testing.T) {
		s := &starter{}
		told := make(chan string, 100) // more than any test waits for
		session, hangUp, ended := connect(t, t.Context(), options(s), &sdk.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) { told <- req.Params.Message },
		})
		call(t, session, "say", "1")
		run(t, session, s.last(), told)
		hangUp()
		<-ended
	})
}

func TestReadsRunBesideEachOtherAndAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T, client *sdk.ClientSession, h *host, _ <-chan string) {
		const most, more = 8, 3
		for range most + more {
			begin(t.Context(), client, "look", "gate", "r")
		}
		synctest.Wait()
		if n := len(h.started()); n != most {
			t.Errorf("%d reads run, want %d", n, most)
		}
		for range more {
			h.gate <- struct{}{}
		}
		synctest.Wait()
		if n := len(h.started()); n != more {
			t.Errorf("%d reads began when %d had ended", n, more)
		}
	})
}

func TestCallsThatChangeRunAlone(t *testing.T) {
	bubble(t, func(t *testing.T, client *sdk.ClientSession, h *host, _ <-chan string) {
		// One after the other, so that their order is known.
		for _, c := range []struct{ tool, text string }{
			{"look", "read"}, {"put", "write"}, {"run", "command"}, {"look", "late 1"}, {"look", "late 2"}, {"watch", "watch"},
		} {
			begin(t.Context(), client, c.tool, "gate", c.text)
			synctest.Wait()
		}
		// Each step lets go the call that runs; the watcher runs beside them all.
		want := [][]string{{"read", "watch"}, {"write"}, {"command"}}
		for i, now := range want {
			if diff := cmp.Diff(now, h.started()); diff != "" {
				t.Fatalf("step %d (-want +got):\n%s", i, diff)
			}
			if i == 0 {
				h.gate <- struct{}{} // the reader or the watcher
			}
			h.gate <- struct{}{}
			synctest.Wait()
		}
		if got := h.started(); len(got) != 2 {
			t.Errorf("%q run, want both late reads", got)
		}
	})
}

func TestCancellationEndsTheCall(t *testing.T) {
	bubble(t, func(t *testing.T, client *sdk.ClientSession, h *host, _ <-chan string) {
		ctx, cancel := context.WithCancel(t.Context())
		waiting, giveUp := context.WithCancel(t.Context())
		begin(ctx, client, "run", "wait", "runs")
		synctest.Wait()
		begin(waiting, client, "run", "wait", "waits")
		synctest.Wait()
		if diff := cmp.Diff([]string{"runs"}, h.started()); diff != "" {
			t.Fatalf("before (-want +got):\n%s", diff)
		}
		// One after the other: of two words that are sent at once the server may
		// hear the one to the call that runs first, and the other call begins.
		giveUp()
		synctest.Wait()
		cancel()
		synctest.Wait()
		select {
		case <-h.ended:
		default:
			t.Error("the call was not told to end")
		}
		if got := h.started(); got != nil {
			t.Errorf("%q began, which nobody waits for", got)
		}
		if got := call(t, client, "say", "next"); text(got) != "next" {
			t.Errorf("the next call: %q", text(got))
		}
	})
}

func TestCallsThatWaitAreBounded(t *testing.T) {
	tests := []struct {
		name  string
		calls int
		size  int
		want  string
	}{
		{"in number", 64, 1, "64 calls of this session run or wait"},
		{"in size", 2, 15 << 20, "32 MiB of arguments"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, client *sdk.ClientSession, h *host, _ <-chan string) {
				ctx, cancel := context.WithCancel(t.Context())
				what := strings.Repeat("x", test.size)
				for range test.calls {
					begin(ctx, client, "run", "wait", what)
				}
				synctest.Wait()
				more := begin(t.Context(), client, "run", "wait", what)
				synctest.Wait()
				select {
				case got := <-more:
					if !strings.HasPrefix(got, "not run: ") || !strings.Contains(got, test.want) {
						t.Errorf("one more: %q", got)
					}
				default:
					t.Error("one more waits")
				}
				cancel()
				synctest.Wait()
				if got := call(t, client, "say", "next"); text(got) != "next" {
					t.Errorf("after them: %q", text(got))
				}
			})
		})
	}
}

func TestCallThatWaitsIsToldSo(t *testing.T) {
	bubble(t, func(t *testing.T, client *sdk.ClientSession, h *host, told <-chan string) {
		begin(t.Context(), client, "run", "gate", "first")
		synctest.Wait()
		params := &sdk.CallToolParams{Name: "run", Arguments: map[string]any{"do": "gate"}}
		params.SetProgressToken("mine")
		go client.CallTool(t.Context(), params)
		if got := <-told; got != "waits for other calls" {
			t.Errorf("told %q while it waits", got)
		}
		h.gate <- struct{}{}
		synctest.Wait()
		for len(told) > 0 {
			<-told
		}
		if got := <-told; got != "run runs" {
			t.Errorf("told %q while it runs", got)
		}
	})
}
