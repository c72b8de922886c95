package openai_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/openai"
	"github.com/belljar/belljar/agent/model/provider"
	"github.com/google/go-cmp/cmp"
)

// A recorded stream is a file of testdata/streams: a word on who sends the
// like, what comes out of it, and its bytes.
type recorded struct {
	name, want, stream string
}

// corpus reads the recorded streams.
func corpus(t *testing.T) []recorded {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "streams", "*.txt"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d streams, error %v", len(files), err)
	}
	var all []recorded
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		note, rest, ok := strings.Cut(string(data), "\n-- want --\n")
		want, stream, ok2 := strings.Cut(rest, "-- stream --\n")
		if !ok || !ok2 || !strings.HasPrefix(note, "# ") {
			t.Fatalf("%s is not a note, what is wanted, and a stream", file)
		}
		all = append(all, recorded{strings.TrimSuffix(filepath.Base(file), ".txt"), want, stream})
	}
	return all
}

// TestCorpusKnowsEachProvider: there is a stream of each that is known.
func TestCorpusKnowsEachProvider(t *testing.T) {
	all := corpus(t)
	for _, name := range provider.Names() {
		prefix := strings.ReplaceAll(name, ".", "") + "-"
		if name != provider.Generic().Name && !slices.ContainsFunc(all, func(r recorded) bool { return strings.HasPrefix(r.name, prefix) }) {
			t.Errorf("there is no stream of %s", name)
		}
	}
}

// outcome writes what came out of a stream as the corpus has it. The usage is of
// the input, the output, what of the input was kept, and what of the output was
// thought.
func outcome(resp model.Response) string {
	var b strings.Builder
	for _, line := range []struct{ name, text string }{{"reasoning", resp.Reasoning}, {"text", resp.Text}} {
		if line.text != "" {
			fmt.Fprintf(&b, "%s %s\n", line.name, line.text)
		}
	}
	for _, c := range resp.Calls {
		fmt.Fprintln(&b, strings.TrimSpace(strings.Join([]string{"call", c.ID, c.Name, c.Arguments, c.Extra}, " ")))
	}
	fmt.Fprintf(&b, "finish %s\n", resp.Finish)
	if u := resp.Usage; !u.Estimated {
		fmt.Fprintf(&b, "usage %d %d %d %d\n", u.Input, u.Output, u.Cached, u.Reasoning)
	}
	return b.String()
}

// checkOutcome compares what came out with what the corpus wants.
func checkOutcome(t *testing.T, want string, resp model.Response, err error) {
	t.Helper()
	kind, says, fails := strings.Cut(strings.TrimSpace(strings.TrimPrefix(want, "error ")), ": ")
	switch {
	case !strings.HasPrefix(want, "error "):
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, outcome(resp)); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
	case !fails || model.KindOf(err) != model.Kind(kind) || !strings.Contains(err.Error(), says):
		t.Errorf("error %v of kind %q, want %s", err, model.KindOf(err), want)
	case len(resp.Calls) > 0:
		t.Errorf("calls beside an error: %v", resp.Calls)
	}
}

// TestCorpus replays every recorded stream over HTTP: at once, in pieces of
// every byte, and in pieces that end before and after each line.
func TestCorpus(t *testing.T) {
	ways := map[string]func(http.ResponseWriter, string){
		"at once": func(w http.ResponseWriter, body string) { _, _ = io.WriteString(w, body) },
		"bytes":   bytewise,
		"lines":   linewise,
	}
	for _, r := range corpus(t) {
		for way, send := range ways {
			t.Run(r.name+"/"+way, func(t *testing.T) {
				t.Parallel()
				c := newClient(t, func(w http.ResponseWriter, _ *http.Request) { send(w, r.stream) })
				resp, err := insist(func() (model.Response, error) { return c.Generate(t.Context(), hello, nil) })
				checkOutcome(t, r.want, resp, err)
			})
		}
	}
}

// insist asks again where an answer is only believed the second time.
func insist(ask func() (model.Response, error)) (model.Response, error) {
	resp, err := ask()
	if err != nil && strings.Contains(err.Error(), "believed if") {
		return ask()
	}
	return resp, err
}

// linewise sends each line in one piece and its end in the next.
func linewise(w http.ResponseWriter, body string) {
	for line := range strings.SplitAfterSeq(body, "\n") {
		for _, piece := range []string{strings.TrimSuffix(line, "\n"), line[len(strings.TrimSuffix(line, "\n")):]} {
			_, _ = io.WriteString(w, piece)
			w.(http.Flusher).Flush()
		}
	}
}

// TestCorpusLineEnds: the streams are the same with every kind of line end.
func TestCorpusLineEnds(t *testing.T) {
	b := newBreaking(t)
	for _, r := range corpus(t) {
		for _, end := range []string{"\r\n", "\r"} {
			resp, err := insist(func() (model.Response, error) { return b.generate(t, strings.ReplaceAll(r.stream, "\n", end), nil) })
			t.Run(r.name, func(t *testing.T) { checkOutcome(t, r.want, resp, err) })
		}
	}
}

// A breaking server answers with a body and then breaks the connection with an
// error; nil is its proper end. One request at a time.
type breaking struct {
	client *openai.Client
	body   string
	err    error
}

func newBreaking(t *testing.T) *breaking {
	t.Helper()
	b := &breaking{}
	var err error
	b.client, err = openai.New(openai.Options{BaseURL: "http://host/v1", Model: "m", HTTPClient: &http.Client{Transport: b}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// generate asks the server that answers so.
func (b *breaking) generate(t *testing.T, body string, broken error) (model.Response, error) {
	b.body, b.err = body, broken
	return b.client.Generate(t.Context(), hello, nil)
}

func (b *breaking) RoundTrip(req *http.Request) (*http.Response, error) {
	body := io.Reader(strings.NewReader(b.body))
	if b.err != nil {
		body = io.MultiReader(body, iotest.ErrReader(b.err))
	}
	return &http.Response{StatusCode: 200, Request: req, Body: io.NopCloser(body)}, nil
}

// TestCutAnywhere cuts every recorded stream after each of its bytes, with a
// proper end of the connection, and with a broken one after every eighth. What
// comes out is the whole answer or an error that another try may get past:
// never a part of the calls.
func TestCutAnywhere(t *testing.T) {
	for _, r := range corpus(t) {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			for n := range len(r.stream) {
				b := newBreaking(t) // which has no habits yet
				resp, err := b.generate(t, r.stream[:n], nil)
				checkCut(t, r, n, resp, err)
				if n%8 == 0 {
					b = newBreaking(t)
					resp, err = b.generate(t, r.stream[:n], io.ErrUnexpectedEOF)
					checkCut(t, r, n, resp, err)
				}
			}
		})
	}
}

// checkCut checks what came out of a stream that was cut after n bytes. Counts
// may be missing: they come last. A reason is an end, so a cut right after the
// first of several cannot be told.
func checkCut(t *testing.T, r recorded, n int, resp model.Response, err error) {
	t.Helper()
	const reason = `"finish_reason":"s`
	if strings.Count(r.stream[:n], reason) == 1 && strings.Count(r.stream, reason) > 2 {
		return
	}
	if err != nil {
		kind := model.KindOf(err)
		if !kind.Retryable() && !strings.HasPrefix(r.want, "error "+string(kind)) {
			t.Errorf("cut after %d bytes: error %v of kind %q", n, err, kind)
		}
		return
	}
	resp.Usage = model.Usage{Estimated: true}
	want, _, _ := strings.Cut(r.want, "usage ")
	if got := outcome(resp); got != want {
		t.Errorf("cut after %d bytes it is taken for whole: %s", n, got)
	}
}
